import type { EngineSnapshot } from '@baton/engine';
import type { EngineRole } from './topology/topology';

/** The measures of an engine's room. */
export interface RoomFacts {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly blockSize: number;
}

/** Taken work that has not entered the engine yet. */
export interface Incoming {
  readonly sequences: number;
  readonly promptTokens: number;
}

/**
 * Number of decode jobs taken before their slot or blocks are free, so that a freed slot is filled
 * in the same step.
 */
const LOOKAHEAD_SHARE = 16;

/** Weight of a new job in the mean prompt length: about the last 16 jobs decide. */
const MEAN_WEIGHT = 1 / 16;

/**
 * The number of further jobs that an engine takes from its queue. A prefill engine holds its
 * running work plus about one further step, so that its batches fill while the rest stays in the
 * queue for any engine. An engine that generates takes as many as slots and blocks allow, plus a
 * small lookahead.
 */
export class Room {
  private meanPromptTokens: number;
  private readonly lookahead: number;

  constructor(
    private readonly role: EngineRole,
    private readonly facts: RoomFacts,
  ) {
    this.meanPromptTokens = facts.maxNumBatchedTokens / 8;
    this.lookahead = Math.max(1, Math.floor(facts.maxNumSeqs / LOOKAHEAD_SHARE));
  }

  /** Records a taken job in the mean prompt length, which measures room. */
  observe(promptTokens: number): void {
    this.meanPromptTokens += (promptTokens - this.meanPromptTokens) * MEAN_WEIGHT;
  }

  /** @param waitingForRoom decode sequences that have no blocks yet and get them from a step */
  left(engine: EngineSnapshot, incoming: Incoming, waitingForRoom: number): number {
    if (this.role === 'decode') return this.decodeRoom(engine, incoming, waitingForRoom);
    const waiting = engine.waiting + incoming.sequences;
    const budget = this.facts.maxNumBatchedTokens;
    const tokens = budget - engine.waitingTokens - incoming.promptTokens;
    const slots =
      this.role === 'prefill'
        ? this.facts.maxNumSeqs - waiting
        : this.slotsLeft(engine, incoming.sequences);
    if (tokens <= 0 || slots <= 0) return 0;
    return Math.min(slots, Math.max(1, Math.floor(tokens / this.meanPromptTokens)));
  }

  private decodeRoom(engine: EngineSnapshot, incoming: Incoming, waitingForRoom: number): number {
    const slots = this.slotsLeft(engine, incoming.sequences);
    const blocksEach = Math.max(1, Math.ceil(this.meanPromptTokens / this.facts.blockSize));
    const incomingBlocks = incoming.promptTokens / this.facts.blockSize;
    const byBlocks = Math.floor((engine.freeBlocks - incomingBlocks) / blocksEach);
    return Math.max(0, Math.min(slots, byBlocks + this.lookahead - waitingForRoom));
  }

  private slotsLeft(engine: EngineSnapshot, incoming: number): number {
    const taken = engine.running + engine.waiting + engine.deferred + incoming;
    return this.facts.maxNumSeqs + this.lookahead - taken;
  }
}
