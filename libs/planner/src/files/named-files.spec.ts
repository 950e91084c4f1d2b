import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesNamedIn, sumsOf } from './named-files';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-named-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('the files that a configuration names', () => {
  it('are those of its options, at any depth, but not those that a live cluster writes', () => {
    const policy = written('mine.mjs', 'a');
    const times = written('times.csv', 'b');
    const record = written('out.jsonl', 'c');
    const config = { placement: policy, admission: join(folder, 'missing.mjs'), record, seed: 1 };
    const fleet = { engines: [{ stepTimeFile: times }], gpu: 'h100' };
    expect(filesNamedIn(config, fleet)).toEqual([policy, times]);
  });

  it('have other sums when their content changes, and equal ones at another place', () => {
    const policy = written('mine.mjs', 'a');
    const before = sumsOf([policy])[policy];
    expect(sumsOf([written('copy.mjs', 'a')])).toEqual({ [join(folder, 'copy.mjs')]: before });
    written('mine.mjs', 'b');
    expect(sumsOf([policy])[policy]).not.toBe(before);
    rmSync(policy);
    expect(sumsOf([policy])[policy]).not.toBe(before);
  });

  it('include the tables of a folder of operators, and of a model only its config.json', () => {
    const operators = join(folder, 'operators');
    mkdirSync(join(operators, 'h100'), { recursive: true });
    const before = sumsOf([operators])[operators];
    written('operators/h100/gemm.csv', '1');
    expect(sumsOf([operators])[operators]).not.toBe(before);
    written('operators/config.json', '{}');
    const model = sumsOf([operators])[operators];
    written('operators/h100/gemm.csv', '2');
    expect(sumsOf([operators])[operators]).toBe(model);
  });
});
