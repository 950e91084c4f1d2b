import { describe, expect, it } from 'vitest';
import { faultOf, quotedTests } from './named-tests';
import { read } from './repository';

const PAGE = 'docs/proxies.md';

describe(PAGE, () => {
  const text = read(PAGE);
  const letters = new Map(
    [...text.matchAll(/\b([A-Z]) =\s+`([^`]+)`/g)].map(([, letter, path]) => [letter!, path!]),
  );
  const rows = text.split('\n').filter((line) => /^\| (?!proxy|case|params|---)/.test(line));

  it('names a test in every row, and each is there', () => {
    expect(rows.length).toBeGreaterThan(15);
    const faults = rows.flatMap((row) => {
      const tests = quotedTests(row, letters);
      return tests.length === 0 ? [`no test: ${row}`] : tests.map(faultOf);
    });
    expect(faults.filter((fault) => fault !== '')).toEqual([]);
  });
});
