import type { BatchAggregates, PipelineTimes, StepTimeModel } from '@baton/step-time';
import fc from 'fast-check';
import {
  type EngineOptions,
  layoutOfEngine,
  type SequenceSpec,
  type SpeculationOptions,
} from '@baton/engine';
import { mix, type Micros } from '@baton/kernel';

/** One sequence of a scenario, with the actions on it from outside the engine. */
export interface Visit {
  readonly gapUs: Micros;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** It ends by its limit of tokens, not by an end token. */
  readonly endsByLimit: boolean;
  /** Prompts of one family are equal over the length of the shorter one. */
  readonly family: number;
  readonly hashedShare: number;
  readonly priority: number;
  readonly mode: SequenceSpec['mode'];
  /** Share of the prompt with fetched KV, 0 to 1. Undefined: the default of the mode. */
  readonly remoteShare: number | undefined;
  readonly holdsAtEnd: boolean;
  readonly cacheHitThreshold: number | undefined;
  /** From reservation to arrival, or from hold to release. */
  readonly transferUs: Micros;
  readonly isTransferLost: boolean;
  readonly abortAfterUs: Micros | undefined;
}

export interface Scenario {
  readonly options: EngineOptions;
  readonly visits: readonly Visit[];
}

const FAMILIES = 3;
/** At least the blocks of the longest sequence. */
const FAMILY_CONTENTS = 150;

function lineUs(b: BatchAggregates): number {
  const decodeUs = 90.3 + 7.7 * b.decodeSeqs + 0.31 * b.decodeContext;
  return (
    decodeUs +
    1.9 * (b.prefillTokens + (b.draftTokens ?? 0)) +
    3.1 * b.prefillSeqs +
    0.001 * b.prefillQuadratic
  );
}

const lineLaw = (seqs: number, contextLimit: number) => ({
  baseUs: 90.3 + 7.7 * seqs,
  perContextUs: 0.31,
  contextLimit,
});

/** Step times of every shape that decides between a leap and single steps. */
const MODELS: Readonly<Record<string, StepTimeModel>> = {
  line: {
    description: 'a line',
    stepUs: lineUs,
    decodeLaw: (seqs) => lineLaw(seqs, Infinity),
  },
  kinked: {
    description: 'a line up to 100 tokens of context',
    stepUs: (b) => lineUs(b) + 2.5 * Math.max(0, b.decodeContext - 100),
    decodeLaw: (seqs) => lineLaw(seqs, 100),
  },
  constant: {
    description: 'a constant',
    stepUs: () => 500,
    decodeLaw: () => ({ baseUs: 500, perContextUs: 0, contextLimit: Infinity }),
  },
  instant: {
    description: 'less than the smallest unit of time',
    stepUs: () => 0.2,
    decodeLaw: () => ({ baseUs: 0.2, perContextUs: 0.001, contextLimit: Infinity }),
  },
  lawless: { description: 'no line', stepUs: (b) => lineUs(b) + 20 * b.kvUsage },
};

/** The same times in so many equal stages, with hops of 3 µs between them. */
function staged(model: StepTimeModel, stages: number): StepTimeModel {
  if (stages === 1) return model;
  const fill: PipelineTimes['fill'] = (batch, us) => {
    for (let i = 0; i < us.length; i++) us[i] = i % 2 === 0 ? model.stepUs(batch) / stages : 3;
  };
  return { description: model.description, stepUs: model.stepUs, pipeline: { stages, fill } };
}

const visit: fc.Arbitrary<Visit> = fc.record({
  gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 8_000 })),
  promptTokens: fc.integer({ min: 1, max: 90 }),
  outputTokens: fc.integer({ min: 1, max: 60 }),
  endsByLimit: fc.boolean(),
  family: fc.integer({ min: 0, max: FAMILIES - 1 }),
  hashedShare: fc.constantFrom(0, 0.5, 1),
  priority: fc.integer({ min: 0, max: 2 }),
  mode: fc.constantFrom('generate', 'generate', 'prefill-and-hold', 'remote-prefill'),
  remoteShare: fc.constantFrom(undefined, undefined, 0.3, 0.9, 1),
  holdsAtEnd: fc.constantFrom(false, false, false, true),
  cacheHitThreshold: fc.constantFrom(undefined, undefined, undefined, 0, 0.1, 0.5, 1),
  transferUs: fc.integer({ min: 0, max: 9_000 }),
  isTransferLost: fc.boolean(),
  abortAfterUs: fc.option(fc.integer({ min: 0, max: 12_000 }), { nil: undefined, freq: 4 }),
});

const speculation: fc.Arbitrary<SpeculationOptions> = fc.record({
  tokens: fc.integer({ min: 1, max: 6 }),
  acceptanceRate: fc.constantFrom(0, 0.3, 0.8, 1),
  draftUs: fc.constantFrom(0, 33.3),
});

const kvGroups = fc.record({
  full: fc.constantFrom(1, 1, 2),
  windowed: fc.integer({ min: 1, max: 3 }),
  windowTokens: fc.constantFrom(1, 2, 8, 16, 17, 40, 200),
  isChunked: fc.boolean(),
});

const knobs = fc.record({
  kvGroups: fc.option(kvGroups, { nil: undefined, freq: 1 }),
  blockSize: fc.constantFrom(1, 4, 16),
  maxNumSeqs: fc.integer({ min: 1, max: 8 }),
  maxNumBatchedTokens: fc.integer({ min: 1, max: 120 }),
  longPrefillTokenThreshold: fc.constantFrom(0, 0, 7),
  enablePrefixCaching: fc.boolean(),
  isNumbered: fc.constantFrom(false, false, false, true),
  hostBlocks: fc.constantFrom(0, 0, 3, 30),
  evictionPolicy: fc.constantFrom('lru' as const, 'lru' as const, 'fifo' as const),
  globalCacheHitThreshold: fc.constantFrom(0, 0, 0, 0.2),
  enableChunkedPrefill: fc.constantFrom(true, true, false),
  schedulingPolicy: fc.constantFrom('fcfs' as const, 'priority' as const, 'sjf' as const),
  sjfAgingTokensPerSecond: fc.constantFrom(0, 3_000),
  schedulerReserveFullIsl: fc.boolean(),
  asyncScheduling: fc.boolean(),
  hasConnector: fc.boolean(),
  warmupSteps: fc.constantFrom(0, 0, 5),
  speculation: fc.option(speculation, { nil: undefined, freq: 1 }),
  spareBlocks: fc.integer({ min: 0, max: 40 }),
  model: fc.constantFrom(...Object.keys(MODELS)),
  stages: fc.constantFrom(1, 1, 1, 2, 3),
});

const HOST_TIER = { bytesPerSecond: 1e9, bytesPerBlock: 123_456 };

/**
 * Small engines under pressure: the pool is little larger than the largest sequence, so preemption
 * is common.
 */
export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({ knobs, visits: fc.array(visit, { minLength: 1, maxLength: 14 }) })
  .map(({ knobs, visits }) => {
    const { spareBlocks, model, stages, hostBlocks, speculation, isNumbered, ...given } = knobs;
    const { kvGroups, ...rest } = given;
    const largest = Math.max(...visits.map((v) => v.promptTokens + v.outputTokens - 1));
    const maxNumBatchedTokens = Math.max(rest.maxNumBatchedTokens, (speculation?.tokens ?? 0) + 1);
    const groups = kvGroups === undefined ? {} : { kvGroups };
    const layout = layoutOfEngine({ ...rest, ...groups, maxNumBatchedTokens }, stages);
    const numBlocks = layout.needed(largest) + spareBlocks;
    const fixed = { maxModelLen: 150, seed: 1, warmupPenaltyPercent: 50 };
    const optional = {
      ...groups,
      ...(speculation === undefined ? {} : { speculation }),
      ...(isNumbered ? { contentCount: FAMILIES * FAMILY_CONTENTS } : {}),
      ...(hostBlocks === 0 ? {} : { hostTier: { ...HOST_TIER, blocks: hostBlocks } }),
    };
    const stepTime = staged(MODELS[model]!, stages);
    return {
      options: { ...rest, ...fixed, ...optional, maxNumBatchedTokens, numBlocks, stepTime },
      visits,
    };
  });

export function specOf(scenario: Scenario, id: number, arrivalUs: Micros): SequenceSpec {
  const visit = scenario.visits[id]!;
  const { promptTokens, outputTokens, family, hashedShare, priority, mode, holdsAtEnd } = visit;
  const { cacheHitThreshold, remoteShare, endsByLimit } = visit;
  const isNumbered = scenario.options.contentCount !== undefined;
  const blocks = Math.floor((promptTokens + outputTokens) / scenario.options.blockSize);
  const hashed = Math.floor(blocks * hashedShare);
  return {
    requestId: `r${id}`,
    promptTokens,
    outputTokens,
    endReason: endsByLimit ? 'length' : 'stop',
    blockHashes: Array.from({ length: hashed }, (_, i) =>
      isNumbered ? family * FAMILY_CONTENTS + i + 1 : mix(family + 1, i + 1) || 1,
    ),
    priority,
    arrivalUs,
    mode,
    holdsAtEnd,
    ...(remoteShare === undefined ? {} : { remoteTokens: remoteTokens(visit) }),
    ...(cacheHitThreshold === undefined ? {} : { parameters: { cacheHitThreshold } }),
  };
}

/** Remote tokens of the prompt. 0 in modes without a transfer. */
export function remoteTokens({ mode, remoteShare, promptTokens }: Visit): number {
  if (mode === 'generate') return 0;
  if (remoteShare === undefined) return mode === 'remote-prefill' ? promptTokens : 0;
  return Math.ceil(remoteShare * promptTokens);
}
