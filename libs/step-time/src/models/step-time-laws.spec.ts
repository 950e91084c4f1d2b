import { findGpu, findModel } from '@baton/hardware';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import {
  type BatchAggregates,
  buildStepTimeModel,
  type StepTimeModel,
  type StepTimeSpec,
} from '..';
import { EMPTY } from '../../test/test-batches';

const place = (model: string, gpu: string, tp: number) => ({
  model: findModel(model),
  gpu: findGpu(gpu),
  tp,
});
const LLAMA_8B = place('llama-3.1-8b', 'h100', 1);

const HEADER = 'gpu,model,tp,phase,batch_size,tokens_or_context,cached_prefix,latency_ms';
const row = (phase: string, cells: readonly number[]) =>
  `H100,llama-3.1-8b,1,${phase},${cells.join(',')}`;
const CSV = [
  HEADER,
  row('decode', [1, 128, 0, 6]),
  row('decode', [1, 4096, 0, 7]),
  row('decode', [64, 128, 0, 8]),
  row('decode', [64, 1024, 0, 10]),
  row('decode', [64, 4096, 0, 18]),
  row('decode', [256, 128, 0, 11]),
  row('prefill', [1, 128, 0, 7]),
  row('prefill', [1, 2048, 0, 43]),
  row('prefill', [8, 128, 0, 24]),
  row('prefill', [1, 512, 8192, 14]),
].join('\n');

const line: StepTimeSpec = {
  kind: 'polynomial',
  decode: { kind: 'batch-context', coefficients: [6, 0.01, 1e-4, 4e-5, 1e-6, 0] },
};

/** Models whose decode steps follow a line, with the name under which a failure is reported. */
const LINEAR: readonly (readonly [string, StepTimeModel])[] = [
  ['calibrated', buildStepTimeModel({ kind: 'calibrated' }, LLAMA_8B)],
  ['roofline dense', buildStepTimeModel({ kind: 'roofline' }, place('qwen3-32b', 'b200', 4))],
  ['roofline experts', buildStepTimeModel({ kind: 'roofline' }, place('mixtral-8x7b', 'h200', 2))],
  ['roofline latent', buildStepTimeModel({ kind: 'roofline' }, place('deepseek-v3', 'h200', 8))],
  ['roofline window', buildStepTimeModel({ kind: 'roofline' }, place('gpt-oss-120b', 'h100', 1))],
  ['blis', buildStepTimeModel({ kind: 'blis' }, LLAMA_8B)],
  ['constant', buildStepTimeModel(latency('constant'), LLAMA_8B)],
  ['per-token', buildStepTimeModel(latency('per-token'), LLAMA_8B)],
  ['table', buildStepTimeModel({ kind: 'table', csv: CSV }, LLAMA_8B)],
  ['polynomial', buildStepTimeModel(line, LLAMA_8B)],
];
const CURVED: readonly (readonly [string, StepTimeModel])[] = [
  ['polynomial of Dynamo', buildStepTimeModel({ kind: 'polynomial' }, LLAMA_8B)],
];

function latency(kind: 'constant' | 'per-token'): StepTimeSpec {
  const load = { timeFactorUnderLoad: 3, maxNumSeqs: 256, interTokenLatencyMs: 12.3 };
  if (kind === 'constant') return { kind, timeToFirstTokenMs: 80, ...load };
  return { kind, prefillOverheadMs: 5, prefillTimePerTokenMs: 0.031, ...load };
}

const decodeOnly = (decodeSeqs: number, decodeContext: number): BatchAggregates => ({
  ...EMPTY,
  decodeSeqs,
  decodeContext,
  kvUsage: 0.5,
});

const decodeBatch = fc
  .tuple(fc.integer({ min: 1, max: 512 }), fc.integer({ min: 1, max: 20_000 }))
  .chain(([seqs, mean]) =>
    fc.tuple(fc.constant(seqs), fc.integer({ min: seqs, max: seqs * mean })),
  );

const chunk = fc.record({ cached: fc.nat(60_000), fresh: fc.integer({ min: 1, max: 8192 }) });

const anyBatch = fc
  .tuple(fc.array(chunk, { maxLength: 5 }), fc.option(decodeBatch))
  .filter(([chunks, decode]) => chunks.length > 0 || decode !== null)
  .map(([chunks, decode]) => withChunks(decodeOnly(...(decode ?? ([0, 0] as const))), chunks));

function withChunks(
  batch: BatchAggregates,
  chunks: readonly { cached: number; fresh: number }[],
): BatchAggregates {
  const sum = (of: (c: { cached: number; fresh: number }) => number) =>
    chunks.reduce((total, c) => total + of(c), 0);
  return {
    ...batch,
    prefillSeqs: chunks.length,
    prefillTokens: sum((c) => c.fresh),
    prefillContext: sum((c) => c.cached),
    prefillQuadratic: sum((c) => (c.cached + c.fresh) ** 2 - c.cached ** 2),
  };
}

describe.each([...LINEAR, ...CURVED])('%s', (_, model) => {
  it('gives every batch a finite time above 0, the same each time', () => {
    fc.assert(
      fc.property(anyBatch, (batch) => {
        const us = model.stepUs(batch);
        expect(Number.isFinite(us) && us > 0).toBe(true);
        expect(model.stepUs(batch)).toBe(us);
      }),
      { numRuns: runsOf(300) },
    );
  });

  it('never takes less time for a longer context', () => {
    fc.assert(
      fc.property(decodeBatch, fc.nat(100_000), ([seqs, context], more) => {
        const us = model.stepUs(decodeOnly(seqs, context));
        expect(model.stepUs(decodeOnly(seqs, context + more))).toBeGreaterThanOrEqual(us);
      }),
    );
  });

  it('never takes less time for prompts with a longer prefix, or for an added decode batch', () => {
    fc.assert(
      fc.property(chunk, decodeBatch, fc.nat(60_000), (one, decode, more) => {
        const none = decodeOnly(0, 0);
        const us = model.stepUs(withChunks(none, [one]));
        const longer = { ...one, cached: one.cached + more };
        expect(model.stepUs(withChunks(none, [longer]))).toBeGreaterThanOrEqual(us - 1e-6);
        // The measurements are not quite monotone in tokens; 3 % covers the dips of the calibrated
        // points.
        expect(model.stepUs(withChunks(decodeOnly(...decode), [one]))).toBeGreaterThan(0.97 * us);
      }),
    );
  });
});

describe.each(LINEAR)('the decode law of %s', (_, model) => {
  it('equals stepUs to the last bit up to its limit, from any starting point', () => {
    fc.assert(
      fc.property(decodeBatch, fc.nat(1_000_000), ([seqs, context], more) => {
        const law = model.decodeLaw!(seqs, context);
        expect(law).toBeDefined();
        const { baseUs, perContextUs, contextLimit } = law!;
        expect(contextLimit).toBeGreaterThanOrEqual(context);
        for (const at of [context, Math.min(context + more, contextLimit)]) {
          expect(baseUs + perContextUs * at).toBe(model.stepUs(decodeOnly(seqs, at)));
        }
      }),
      { numRuns: runsOf(500) },
    );
  });
});

it('the roofline time grows with tokens, sequences and every kind of context', () => {
  const placements = ['llama-3.1-70b', 'qwen3-30b-a3b', 'deepseek-v3', 'gpt-oss-20b'].map((name) =>
    place(name, 'h200', 8),
  );
  const models = placements.map((p) => buildStepTimeModel({ kind: 'roofline' }, p));
  fc.assert(
    fc.property(fc.constantFrom(...models), anyBatch, fc.nat(1000), (model, batch, more) => {
      const us = model.stepUs(batch);
      for (const key of Object.keys(batch) as (keyof BatchAggregates)[]) {
        if (key === 'kvUsage' || (batch.prefillTokens === 0 && key.startsWith('prefill'))) continue;
        const larger = model.stepUs({ ...batch, [key]: (batch[key] ?? 0) + more });
        expect(larger).toBeGreaterThanOrEqual(us - 1e-6);
      }
    }),
    { numRuns: runsOf(300) },
  );
});
