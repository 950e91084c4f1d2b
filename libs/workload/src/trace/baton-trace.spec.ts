import { hashString } from '@baton/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestIdOf } from '../workload';
import { generateMultiTurn } from '../generate/multi-turn';
import { type TraceRow, traceLine, traceLines } from './baton-trace';
import { openTrace, readTrace } from './open-trace';
import { type Trace, TraceError } from './trace-reader';

const line = (fields: Record<string, unknown>): string =>
  JSON.stringify({ arrival_ms: 0, prompt_tokens: 40, output_tokens: 5, ...fields });
const read = (...lines: string[]): Trace => readTrace(lines, { file: 'run.jsonl' });

describe("Baton's own traces", () => {
  it('are read with all fields of a recorded run', () => {
    const { workload } = read(
      line({
        arrival_ms: 1.5,
        id: 'cmpl-1',
        session: 'ann',
        priority: -2,
        max_tokens: 64,
        block_size: 16,
        block_hashes: [11, 'f00'],
        measured: { ttft_ms: 20 },
      }),
      line({ arrival_ms: undefined, arrival_s: 2, block_hashes: [11, 12] }),
      line({ arrival_ms: undefined, pause_ms: 7, session: 'ann' }),
    );
    expect(workload).toMatchObject({ count: 3, contentBlockTokens: 16, contentSpan: 'sequence' });
    expect(Array.from(workload.arrivalUs)).toEqual([1_500, 7_000, 2_000_000]);
    expect(Array.from(workload.after)).toEqual([-1, 0, -1]);
    expect(Array.from(workload.session)).toEqual([hashString('ann'), hashString('ann'), 0]);
    expect(Array.from(workload.priority)).toEqual([-2, 0, 0]);
    expect(Array.from(workload.maxTokens)).toEqual([64, 0, 0]);
    expect(Array.from(workload.contentIds)).toEqual([1, 2, 1, 3]);
    expect(requestIdOf(workload, 0)).toBe('cmpl-1');
  });

  it('round-trip row by row', () => {
    const count = fc.integer({ min: 1, max: 1_000_000_000 });
    const row: fc.Arbitrary<TraceRow> = fc.record({
      arrivalUs: fc.nat(10_000_000),
      promptTokens: fc.integer({ min: 64, max: 1_000_000 }),
      outputTokens: count,
      maxTokens: fc.option(count, { nil: undefined }),
      id: fc.option(fc.string({ minLength: 1, maxLength: 30 }), { nil: undefined }),
      session: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      priority: fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined }),
      blockSize: fc.constant(16),
      blockHashes: fc.array(fc.nat(9), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const { workload } = read(...rows.map(traceLine));
        const sorted = rows
          .map((each, i) => ({ ...each, i }))
          .sort((a, b) => a.arrivalUs - b.arrivalUs || a.i - b.i);
        expect(Array.from(workload.arrivalUs)).toEqual(sorted.map((each) => each.arrivalUs));
        sorted.forEach((each, at) => {
          expect(workload.promptTokens[at]).toBe(each.promptTokens);
          expect(workload.outputTokens[at]).toBe(each.outputTokens);
          expect(workload.maxTokens[at] ?? 0).toBe(each.maxTokens ?? 0);
          expect(workload.session[at] ?? 0).toBe(each.session ?? 0);
          expect(workload.priority[at] ?? 0).toBe(each.priority ?? 0);
          expect(requestIdOf(workload, at)).toBe(each.id);
          const blocks = workload.contentStart[at + 1]! - workload.contentStart[at]!;
          expect(blocks).toBe(each.blockHashes?.length);
        });
      }),
    );
  });

  it('round-trip whole workloads, including conversations', () => {
    const workload = generateMultiTurn({
      arrivalUs: Float64Array.from({ length: 9 }, (_none, i) => i * 777),
      count: 30,
      turns: { kind: 'uniform', min: 1, max: 5 },
      message: { kind: 'uniform', min: 20, max: 60 },
      output: { kind: 'uniform', min: 20, max: 60 },
      systemTokens: 40,
      thinkTimeMeanUs: 1e6,
      maxContextTokens: 1e6,
      blockTokens: 16,
      seed: 4,
    });
    expect(read(...traceLines(workload)).workload).toEqual({
      ...workload,
      priority: new Int32Array(0),
    });
  });

  it('refuse a row that waits for another session', () => {
    const { workload } = read(line({ session: 1 }), line({ session: 2 }));
    const crossed = { ...workload, after: Int32Array.of(-1, 0) };
    expect(() => [...traceLines(crossed)]).toThrow(/does not wait for the previous one/);
  });

  it('may be empty', () => {
    expect(openTrace('baton', { file: 'x' }).finishTrace().workload.count).toBe(0);
  });

  it.each([
    [line({ promt_tokens: 5 }), /unknown key "promt_tokens"/],
    [line({ arrival_ms: undefined }), /arrival_ms .* is missing/],
    [line({ arrival_s: 1 }), /arrival_s and arrival_ms exclude each other/],
    [line({ pause_ms: 1, session: 'a' }), /arrival and pause exclude each other/],
    [line({ arrival_ms: undefined, pause_ms: 1 }), /needs an earlier line of its session/],
    [line({ arrival_ms: undefined, pause_ms: 1, session: 'new' }), /needs an earlier line/],
    [line({ prompt_tokens: '5' }), /prompt_tokens .* is not a whole number/],
    [line({ output_tokens: undefined }), /output_tokens is missing/],
    [line({ max_tokens: 0 }), /max_tokens "0" is not a whole number from 1/],
    [line({ priority: 0.5 }), /priority "0.5" is not a whole number/],
    [line({ id: '' }), /id .* is not a text/],
    [line({ id: 'x'.repeat(2000) }), /id .* is not a text of 1 to 1024 characters/],
    [line({ block_size: 32 }), /block_size 32 differs from 16/],
    [line({ block_hashes: [1, 2, 3] }), /3 block_hashes are too many for 2 full blocks/],
    [line({ block_hashes: [1, null] }), /block_hashes holds "null"/],
    ['{"arrival_ms": 1e', /broken JSON/],
  ])('refuse %s', (bad, reason) => {
    const attempt = (): Trace => read(line({}), bad);
    expect(attempt).toThrow(TraceError);
    expect(attempt).toThrow(/^run\.jsonl:2: /);
    expect(attempt).toThrow(reason);
  });
});
