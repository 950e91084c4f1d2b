import { describe, expect, it } from 'vitest';
import { mergeWorkloads } from '../merge';
import { head, pick } from '../rows';
import { shareWorkload } from '../share';
import { openTrace } from '../trace/open-trace';
import { traceLines } from '../trace/baton-trace';
import type { Workload } from '../workload';
import { WorkloadBuilder } from '../workload-builder';
import { workloadStream } from '../generate/draw-lengths';
import { withMix } from './mix';
import { rowName } from './named-column';

function workload(classes: readonly (string | undefined)[]): Workload {
  const builder = new WorkloadBuilder();
  classes.forEach((sloClass, i) => {
    builder.add({ arrivalUs: i, promptTokens: 8, outputTokens: 1, sloClass });
  });
  return builder.build();
}

function classesOf(given: Workload): (string | undefined)[] {
  return Array.from({ length: given.count }, (_, row) => rowName(given.sloClass, row));
}

describe('the SLO classes of rows', () => {
  const mixed = workload(['a', undefined, 'b', 'a']);

  it('move with their rows', () => {
    expect(classesOf(mixed)).toEqual(['a', undefined, 'b', 'a']);
    expect(classesOf(head(mixed, 3))).toEqual(['a', undefined, 'b']);
    expect(classesOf(pick(mixed, [2, 0]))).toEqual(['b', 'a']);
    expect(classesOf(shareWorkload(mixed))).toEqual(classesOf(mixed));
  });

  it('keep their names in a merge with workloads of other classes', () => {
    const merged = mergeWorkloads([workload(['b']), workload([undefined, undefined]), mixed]);
    expect(classesOf(merged).sort()).toEqual(['a', 'a', 'b', 'b', undefined, undefined, undefined]);
    expect(mergeWorkloads([workload([undefined]), workload([undefined])]).sloClass).toBeUndefined();
  });

  it('round-trip through traces, with tenants', () => {
    const builder = new WorkloadBuilder();
    const row = { arrivalUs: 5, promptTokens: 8, outputTokens: 1 };
    builder.add({ ...row, sloClass: 'gold', tenant: 'alice' });
    const reader = openTrace('baton', { file: 'x' });
    [...traceLines(builder.build())].forEach((line, i) => reader.push(line, i + 1));
    const read = reader.finishTrace().workload;
    expect([rowName(read.sloClass, 0), rowName(read.tenant, 0)]).toEqual(['gold', 'alice']);
  });
});

describe('a mix', () => {
  const shares = [
    { name: 'interactive', part: 7 },
    { name: 'batch', part: 3 },
  ];

  function drawn(given: Workload, seed: number): (string | undefined)[] {
    const random = workloadStream(seed, 'mix');
    return classesOf(withMix(given, 'sloClass', { shares, random }));
  }

  it('gives each name its share of the rows, and replaces other names', () => {
    const plain = workload(Array.from({ length: 2_000 }, () => 'old'));
    for (const seed of [1, 2, 3]) {
      const names = drawn(plain, seed);
      const share = names.filter((name) => name === 'interactive').length / names.length;
      expect({ seed, isNear: Math.abs(share - 0.7) < 0.04 }).toEqual({ seed, isNear: true });
      expect(new Set(names)).toEqual(new Set(['interactive', 'batch']));
      expect(drawn(plain, seed)).toEqual(names);
    }
  });

  it('gives the turns of a conversation one name', () => {
    const builder = new WorkloadBuilder();
    for (let i = 0; i < 50; i++) {
      const row = { arrivalUs: i, promptTokens: 8, outputTokens: 1, session: i + 1 };
      const first = builder.add(row);
      builder.add({ ...row, after: first });
    }
    const talks = builder.build();
    const names = drawn(talks, 1);
    talks.after.forEach((before, row) => {
      if (before >= 0) expect(names[row]).toBe(names[before]);
    });
    expect(new Set(names).size).toBe(2);
  });
});
