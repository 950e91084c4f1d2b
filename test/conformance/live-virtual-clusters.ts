import type { Stage } from '@baton/contract';
import type { EngineOptions } from '@baton/engine';
import type { TransferSetupTimes, TransferShape } from '@baton/handoff';
import type { KvPoolTerms } from '@baton/kvcache';

/**
 * Steps of about 0.1 s in odd numbers, so that two events hardly ever fall on one microsecond,
 * where the live clock has no order. Blocks and slots suffice. Batches (of chunks of 16 tokens),
 * cache and link are shared.
 */
const OPTIONS: Partial<EngineOptions> = {
  numBlocks: 2_000,
  maxNumSeqs: 64,
  maxNumBatchedTokens: 4_096,
  longPrefillTokenThreshold: 16,
  stepTime: {
    description: 'odd',
    stepUs: (b) => 100_003.7 + 1_009.3 * b.prefillTokens + 97.1 * b.decodeContext,
    decodeLaw: () => ({ baseUs: 100_003.7, perContextUs: 97.1, contextLimit: Infinity }),
  },
};

/** Engines that are often full, so that jobs wait in the queue of the stage. */
const SCARCE: Readonly<Record<string, Partial<EngineOptions>>> = {
  tokens: { ...OPTIONS, maxNumBatchedTokens: 64 },
  slots: { ...OPTIONS, maxNumSeqs: 4 },
  blocks: { ...OPTIONS, numBlocks: 24 },
};

/** The same in three pipeline stages. */
const STAGED: Partial<EngineOptions> = {
  ...OPTIONS,
  stepTime: {
    description: 'odd stages',
    stepUs: () => 100_000,
    pipeline: {
      stages: 3,
      fill: (b, us) => {
        for (let i = 0; i < 5; i += 2) {
          us[i] = 30_003.7 + 1_003.9 * i + 331.3 * b.prefillTokens + 31.1 * b.decodeContext;
          if (i < 4) us[i + 1] = 1_017.3;
        }
      },
    },
  },
};

export interface Cluster {
  readonly topology: string;
  readonly stages: readonly Stage[];
  readonly options: Partial<EngineOptions>;
  /** A user's module orders the queue of prefill, for few slots. */
  readonly hasOwnScheduling?: true;
  /** Data-parallel ranks of each engine, in lockstep; requests take turns. Unset: 1. */
  readonly ranks?: number;
  /** True: ranks step independently, as those of a dense model. Unset: in lockstep. */
  readonly isDense?: boolean;
  /** Every engine is in a KV pool. Unset: no pool. */
  readonly kvPool?: KvPoolTerms;
  /** Ports of an engine of each stage, all with KV of their own. Unset: 1. */
  readonly ports?: Partial<Record<Stage, number>>;
  /** The links have a time per token. Unset: a rate. */
  readonly isTimedByTokens?: boolean;
  /** Time to set up a transfer. Unset: 0. */
  readonly setup?: TransferSetupTimes & TransferShape;
}

/** Each runs as live hosts on a clock that stands still between events, and on the virtual one. */
export const CLUSTERS: Readonly<Record<string, Cluster>> = {
  '1P1D': { topology: '1P1D', stages: ['prefill', 'decode'], options: OPTIONS },
  '1A': { topology: '1A', stages: ['aggregated'], options: OPTIONS },
  '1A in pipeline stages': { topology: '1A', stages: ['aggregated'], options: STAGED },
  '1A in pipeline stages with async scheduling': {
    topology: '1A',
    stages: ['aggregated'],
    options: { ...STAGED, asyncScheduling: true },
  },
  '1A of two ranks in lockstep': {
    topology: '2A',
    stages: ['aggregated'],
    options: OPTIONS,
    ranks: 2,
  },
  '1P1D of three ranks in lockstep': {
    topology: '3P3D',
    stages: ['prefill', 'decode'],
    options: OPTIONS,
    ranks: 3,
  },
  '1A of three dense ranks with a KV pool': {
    topology: '3A',
    stages: ['aggregated'],
    ranks: 3,
    isDense: true,
    options: { ...OPTIONS, hostTier: { blocks: 10, bytesPerSecond: 1e9, bytesPerBlock: 1e6 } },
    kvPool: {
      blocks: 10,
      bytesPerBlock: 1e6,
      bytesPerSecond: 1e9,
      latencyUs: 1_003,
      balancingThreshold: 1.5,
      replicas: 2,
    },
  },
  '1A with room for few tokens': {
    topology: '1A',
    stages: ['aggregated'],
    options: SCARCE['tokens']!,
  },
  '1A with few slots': { topology: '1A', stages: ['aggregated'], options: SCARCE['slots']! },
  '1A with few blocks': { topology: '1A', stages: ['aggregated'], options: SCARCE['blocks']! },
  '1A with few slots and async scheduling': {
    topology: '1A',
    stages: ['aggregated'],
    options: { ...SCARCE['slots'], asyncScheduling: true },
  },
  '1A with room for few tokens and async scheduling': {
    topology: '1A',
    stages: ['aggregated'],
    options: { ...SCARCE['tokens'], asyncScheduling: true },
  },
  '1P1D with room for few tokens': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: SCARCE['tokens']!,
  },
  '1P1D with few slots': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: SCARCE['slots']!,
  },
  '1P1D with async scheduling': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: { ...OPTIONS, asyncScheduling: true },
  },
  '1A with async scheduling': {
    topology: '1A',
    stages: ['aggregated'],
    options: { ...OPTIONS, asyncScheduling: true },
  },
  '1P1D of two ranks in lockstep with async scheduling': {
    topology: '2P2D',
    stages: ['prefill', 'decode'],
    ranks: 2,
    options: { ...OPTIONS, asyncScheduling: true },
  },
  '1P1D with more ports in decode': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: OPTIONS,
    ports: { prefill: 2, decode: 8 },
  },
  '1P1D with windowed layers': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: { ...OPTIONS, kvGroups: { full: 1, windowed: 2, windowTokens: 8 } },
  },
  '1P1D with a time per token': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: OPTIONS,
    isTimedByTokens: true,
  },
  '1P1D with handshakes and descriptors': {
    topology: '1P1D',
    stages: ['prefill', 'decode'],
    options: OPTIONS,
    setup: {
      handshakeUs: 700_003,
      descriptorUs: 31.7,
      bytesPerBlock: 4_000,
      descriptorsPerBlock: 6,
    },
  },
};
