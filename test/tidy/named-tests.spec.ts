import { describe, expect, it } from 'vitest';
import { faultOf, quotedTests } from './named-tests';
import { read } from './repository';

const PROXIES = read('docs/proxies.md');
const [, rules = ''] = read('docs/engine.md').split('### Rules of vLLM, each with a test\n');
const [RULES = ''] = rules.split('\n### ');

/** The faults of the rows of all tables: a row without a test, and tests that are not there. */
function faultsOf(text: string, head: RegExp): string[] {
  const letters = new Map(
    [...text.matchAll(/\b([A-Z]) =\s+`([^`]+)`/g)].map(([, letter, path]) => [letter!, path!]),
  );
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && !head.test(line));
  expect(rows.length).toBeGreaterThan(15);
  const faults = rows.flatMap((row) => {
    const tests = quotedTests(row, letters);
    return tests.length === 0 ? [`no test: ${row}`] : tests.map(faultOf);
  });
  return faults.filter((fault) => fault !== '');
}

describe('pages name a test in every row, and each is there', () => {
  it('docs/proxies.md', () => {
    expect(faultsOf(PROXIES, /^\| (proxy|case|params|-)/)).toEqual([]);
  });

  it('docs/engine.md, in its rules of vLLM', () => {
    expect(faultsOf(RULES, /^\| (rule|-)/)).toEqual([]);
  });
});
