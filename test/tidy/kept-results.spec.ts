import { describe, expect, it } from 'vitest';
import { filesBelow, read, readJson } from './repository';

interface Kept {
  readonly commit?: string;
  readonly date?: string;
}

const HEX = /^[0-9a-f]{7,8}\+?$/;
/** `peers.json` has a first and a last measurement, and the page a section for each. */
const results = filesBelow('bench/results').filter((path) => !path.endsWith('peers.json'));

describe('kept results', () => {
  it('carry their commit and date, and docs/benchmarks.md prints both', () => {
    expect(results.length).toBeGreaterThan(3);
    const page = read('docs/benchmarks.md');
    const wrong = results.filter((path) => {
      const { commit = '', date = '' } = readJson(path) as Kept;
      const row = page.split('\n').find((line) => line.includes(path.split('/').at(-1)!));
      return !HEX.test(commit) || !row?.includes(commit) || !row.includes(date);
    });
    expect(wrong).toEqual([]);
  });
});
