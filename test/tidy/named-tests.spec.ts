import { describe, expect, it } from 'vitest';
import { faultOf, missingFunctions, quotedTests } from './named-tests';
import { read } from './repository';

const PROXIES = read('docs/proxies.md');
const [, rules = ''] = read('docs/engine.md').split('### Rules of vLLM, each with a test\n');
const [RULES = ''] = rules.split('\n### ');
const [, listing = ''] = read('libs/engine/README.md').split("## vLLM's scheduler and this one\n");
const [LISTING = ''] = listing.split('\n## ');

/** The cells of one column of a table, without its head. */
function column(text: string, at: number): string[] {
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) => row.slice(2, -2).split(' | ')[at]!.trim());
}

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

describe('pages name functions that are there', () => {
  it('docs/engine.md, for its rules of vLLM', () => {
    const cells = column(RULES, 2);
    expect(cells.length).toBeGreaterThan(15);
    expect(cells.flatMap((cell) => missingFunctions(cell, ''))).toEqual([]);
  });

  it('libs/engine/README.md, beside those of vLLM', () => {
    const cells = column(LISTING, 1);
    const faults = cells.map((cell) => missingFunctions(cell, 'libs/engine/src', 'scheduler.ts'));
    expect(cells.length).toBeGreaterThan(15);
    expect(faults.flat()).toEqual([]);
  });

  it('not a test of nothing: a name that is nowhere is a fault', () => {
    const cell = '`form`, `deform` in `scheduler.ts`; `deform` in `nowhere.ts`; nothing';
    expect(missingFunctions(cell, 'libs/engine/src')).toEqual([
      'libs/engine/src/scheduler.ts has no deform',
      'nothing there:  `deform` in `nowhere.ts`',
      'nothing there:  nothing',
    ]);
  });
});
