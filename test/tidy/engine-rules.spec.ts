import { describe, expect, it } from 'vitest';
import { faultOf, quotedTests } from './named-tests';
import { read } from './repository';

const PAGE = 'docs/engine.md';

describe(`the rules of vLLM in ${PAGE}`, () => {
  const [, section = ''] = read(PAGE).split('### Rules of vLLM, each with a test\n');
  const [text = ''] = section.split('\n### ');
  const letters = new Map(
    [...text.matchAll(/\b([A-Z]) =\s+`([^`]+)`/g)].map(([, letter, path]) => [letter!, path!]),
  );
  const rows = text.split('\n').filter((line) => /^\| (?!rule|---)/.test(line));

  it('name a test in every row, and each is there', () => {
    expect(rows.length).toBeGreaterThan(20);
    const faults = rows.flatMap((row) => {
      const tests = quotedTests(row, letters);
      return tests.length === 0 ? [`no test: ${row}`] : tests.map(faultOf);
    });
    expect(faults.filter((fault) => fault !== '')).toEqual([]);
  });
});
