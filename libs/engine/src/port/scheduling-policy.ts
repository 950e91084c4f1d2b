import type { Micros } from '@baton/kernel';

/**
 * A scheduling policy's view of a sequence that enters the waiting queue, without the length of its
 * output. The engine reuses the objects, so a policy must not keep a reference to them.
 */
export interface WaitingView {
  readonly promptTokens: number;
  /** Tokens to compute before it generates: the prompt and, after a preemption, the output. */
  readonly targetTokens: number;
  /** Tokens of `targetTokens` that are already in KV. */
  readonly computed: number;
  /** Priority of the request; vLLM schedules lower numbers first. */
  readonly priority: number;
  readonly arrivalUs: Micros;
  /** LoRA adapter; 0: none. */
  readonly adapter: number;
  /** Rises with every submission; under `resumesFirst` a preempted sequence has the lowest. */
  readonly order: number;
}

/**
 * The order of an engine's waiting queue. A sequence gets its keys once, when it enters the queue,
 * so any pure function gives a strict order.
 */
export interface SchedulingPolicy {
  /** A finite number; the sequence with the lowest is scheduled first. */
  key(sequence: WaitingView): number;
  /** Breaks ties between equal keys, lowest first; unset: the order of submission. */
  tieKey?(sequence: WaitingView): number;
  /** Whether a preempted sequence has the lowest `order` of all. Unset: it keeps its own. */
  readonly resumesFirst?: boolean;
  /**
   * Whether the running sequence that is last by this order is preempted. Unset: the one that was
   * admitted last.
   */
  readonly preemptsLast?: boolean;
}

/** The built-in orders. */
export const SCHEDULING_NAMES = ['fcfs', 'priority', 'sjf'] as const;
export type SchedulingName = (typeof SCHEDULING_NAMES)[number];
