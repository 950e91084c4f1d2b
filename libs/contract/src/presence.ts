import type { Stage } from './job';

/** The data that an engine publishes with each heartbeat: only what a scrape or a policy needs. */
export interface EnginePresence {
  readonly engineId: string;
  readonly stage: Stage;
  /** Small number, unique among the living engines (and ranks of engines) of the cluster. */
  readonly index: number;
  /** `P0`, `D3`, `D3-DP1`: unique among the living engines, see `engineName`. */
  readonly name: string;
  /**
   * Set on a data-parallel rank: one of several schedulers with separate KV caches that make one
   * engine of the topology.
   */
  readonly dataParallel?: DataParallelRank;
  readonly pid: number;
  readonly host: string;
  readonly model: string;
  /** Unset: the engine simulates no steps. */
  readonly stepTimes?: StepTimeOrigin;
  readonly state: 'starting' | 'ready' | 'draining';
  /**
   * The load of a starting engine: a cause of `startup_duration`, or `cache`. Unset when it loads
   * nothing.
   */
  readonly loading?: string;
  readonly gauges: EngineGauges;
  /** Counters since the engine's start, by name without the `vllm:` prefix. */
  readonly counters: Readonly<Record<string, number>>;
  /**
   * Histograms since the engine's start: cumulative counts per bucket (the last is +Inf), sum and
   * count.
   */
  readonly histograms: Readonly<Record<string, HistogramSnapshot>>;
}

/** The step-time model of an engine. */
export interface StepTimeOrigin {
  /** `composed`, `calibrated`, `estimated`, or `given` by the user. */
  readonly method: string;
  readonly description: string;
}

export interface DataParallelRank {
  /** 0 .. size - 1. */
  readonly rank: number;
  readonly size: number;
  /** Id and index of rank 0, which all ranks of one engine share, as they do its name. */
  readonly replicaId: string;
  readonly replica: number;
  /** `D3`: the name of the engine, without the rank. */
  readonly replicaName: string;
}

export interface EngineGauges {
  readonly running: number;
  readonly waitingCapacity: number;
  readonly waitingDeferred: number;
  readonly kvUsage: number;
  readonly heldBlocks: number;
  readonly numBlocks: number;
  /** Blocks that a prefix match can find. Unset when no router uses the number. */
  readonly cachedBlocks?: number;
  readonly clockLagMs: number;
  /** The worst recent pause of its process, decaying, ms. Unset counts as 0. */
  readonly latenessMs?: number;
  /** Duration of the last step in simulated ms; 0 before the first. */
  readonly stepMs: number;
  /** Hand-overs under way, by state. Unset when there are none. */
  readonly handoffs?: Readonly<Record<HandoffState, number>>;
  /** Sequences whose fetched KV has arrived and that have not entered a batch. Unset: none. */
  readonly fetchedWaiting?: number;
  /** vLLM's level of sleep, 0 = awake. Unset: awake. */
  readonly sleepLevel?: 0 | 1 | 2;
  /** 1 when the engine's upstream server answers, else 0. Unset without a server. */
  readonly upstreamUp?: 0 | 1;
  /**
   * The farthest step outside of the measured range as a multiple of the largest measured value; 1
   * when none is above it. Unset when the step-time model has no range.
   */
  readonly farthestOutside?: number;
  /** Blocks still in use when the engine was last idle: a leak. Unset when every block was free. */
  readonly lostBlocks?: number;
  /** LoRA adapters of the engine's sequences. Unset when no sequence has one. */
  readonly adapters?: AdaptersInHand;
}

export interface AdaptersInHand {
  /** In a batch, sorted. */
  readonly running: readonly string[];
  readonly waiting: readonly string[];
}

/**
 * The state of a hand-over: the first two at the engine that holds the blocks, the others at the
 * one that fetches them.
 */
export const HANDOFF_STATES = [
  'held',
  'being_read',
  'waiting_for_blocks',
  'waiting_for_answer',
  'transferring',
] as const;

export type HandoffState = (typeof HANDOFF_STATES)[number];

export interface HistogramSnapshot {
  readonly le: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}
