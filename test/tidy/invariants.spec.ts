import { describe, expect, it } from 'vitest';
import { allFiles, read } from './repository';

const MARK = /\bINV-(\d+)\b/g;

function numbersIn(text: string): number[] {
  return [...text.matchAll(MARK)].map((match) => Number(match[1]));
}

const stated = [...read('docs/INVARIANTS.md').matchAll(/^## INV-(\d+)\b/gm)].map((match) =>
  Number(match[1]),
);
const specs = allFiles().filter(
  (path) => path.endsWith('.spec.ts') && !path.startsWith('test/tidy/'),
);
const cited = new Set(specs.flatMap((path) => numbersIn(read(path))));

describe('the invariants of docs/INVARIANTS.md', () => {
  it('are numbered without gap', () => {
    expect(stated).toEqual(stated.map((_number, index) => index + 1));
  });

  it('are each cited by a test', () => {
    expect(stated.length).toBeGreaterThan(0);
    expect(stated.filter((number) => !cited.has(number))).toEqual([]);
  });

  it('are the only ones that tests cite', () => {
    expect([...cited].filter((number) => !stated.includes(number))).toEqual([]);
  });
});
