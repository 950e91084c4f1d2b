import type { HoldingView, SourceAction, SourceFact } from '@baton/handoff';
import { assert } from '@baton/kernel';
import { expect } from 'vitest';

/** One call of a source, as the books record it. */
export interface SourceCall {
  readonly engineId: string;
  readonly fact: SourceFact;
  readonly before: readonly HoldingView[];
  readonly actions: readonly SourceAction[];
}

interface HeldBlocks {
  /** Instant at which its lease began or was last renewed, by a heartbeat or a read. */
  lastSignUs: number;
  /** The promised end of the lease. */
  promisedUs: number;
  isFree: boolean;
}

/**
 * The books that the hand-over is checked against: owners of blocks, open fetches, answered
 * questions. Their only input is the facts of the coordinators.
 */
export class HandoffBooks {
  private readonly held = new Map<string, HeldBlocks>();
  private readonly fetches = new Map<string, 'open' | 'closed'>();
  /**
   * Questions that were answered with blocks, and the questions of each fetch, as `reader/attempt`.
   */
  private readonly granted = new Set<string>();
  private readonly asked = new Map<string, string[]>();

  constructor(private readonly leaseUs: number) {}

  sourceActed(call: SourceCall, nowUs: number): void {
    const { engineId, fact, before } = call;
    if (fact.kind === 'heartbeat') {
      for (const { requestId, generation } of before) {
        if (fact.requestIds.includes(requestId)) this.sign(`${engineId}/${generation}`, nowUs);
      }
    }
    for (const action of call.actions) {
      if (action.kind === 'hand-over') this.handedOver(engineId, action, nowUs);
      else if (action.kind === 'answer-read') this.answered(call, action, nowUs);
      else if (action.kind === 'release-blocks') this.released(call, action, nowUs);
    }
  }

  sourceDied(engineId: string): void {
    for (const [name, blocks] of this.held) {
      if (name.startsWith(`${engineId}/`)) blocks.isFree = true;
    }
  }

  fetchAsked(fetch: string, question: string): void {
    this.asked.set(fetch, [...(this.asked.get(fetch) ?? []), question]);
  }

  transferStarts(fetch: string): void {
    const questions = this.asked.get(fetch) ?? [];
    const isGranted = questions.some((question) => this.granted.has(question));
    expect(isGranted, 'a transfer starts on an answer of its own').toBe(true);
  }

  fetchIsOpen(fetch: string): void {
    assert(this.fetches.get(fetch) !== 'closed', 'what has ended stays ended');
    this.fetches.set(fetch, 'open');
  }

  fetchEnds(fetch: string): void {
    expect(this.fetches.get(fetch), 'a fetch ends once').not.toBe('closed');
    this.fetches.set(fetch, 'closed');
  }

  checkLeases(nowUs: number): void {
    for (const [name, { lastSignUs, promisedUs, isFree }] of this.held) {
      if (isFree) continue;
      const endUs = Math.max(promisedUs, lastSignUs + this.leaseUs);
      assert(nowUs <= endUs, `${name} outlives its lease`);
    }
  }

  checkClosed(): void {
    expect([...this.held.values()].every(({ isFree }) => isFree)).toBe(true);
    expect([...this.fetches.values()].every((state) => state === 'closed')).toBe(true);
  }

  private handedOver(
    engineId: string,
    { generation, leaseEndsUs }: Extract<SourceAction, { kind: 'hand-over' }>,
    nowUs: number,
  ): void {
    const name = `${engineId}/${generation}`;
    expect(this.held.has(name), 'a generation is new').toBe(false);
    this.held.set(name, { lastSignUs: nowUs, promisedUs: leaseEndsUs, isFree: false });
  }

  private sign(name: string, nowUs: number): void {
    const blocks = this.held.get(name);
    if (blocks !== undefined) blocks.lastSignUs = nowUs;
  }

  /** Blocks are granted only under their full name, and only while they are held. */
  private answered(
    call: SourceCall,
    answer: Extract<SourceAction, { kind: 'answer-read' }>,
    nowUs: number,
  ): void {
    if (answer.outcome === 'expired') return;
    const { engineId, fact, before } = call;
    const asked = fact.kind === 'read-requested' ? fact : undefined;
    const holding = before.find(({ generation }) => generation === asked?.generation);
    expect(holding).toMatchObject({ requestId: asked?.requestId, epoch: asked?.epoch });
    const name = `${engineId}/${asked?.generation}`;
    expect(this.held.get(name)?.isFree, 'only held blocks are read').toBe(false);
    this.sign(name, nowUs);
    this.granted.add(`${answer.to}/${answer.attempt}`);
  }

  private released(
    call: SourceCall,
    action: Extract<SourceAction, { kind: 'release-blocks' }>,
    nowUs: number,
  ): void {
    const blocks = this.held.get(`${call.engineId}/${action.generation}`);
    expect(blocks?.isFree ?? false, 'blocks are freed only once').toBe(false);
    if (blocks === undefined) expect(['aborted', 'superseded']).toContain(action.reason);
    else blocks.isFree = true;
    if (action.reason === 'expired') {
      expect(nowUs, 'a lease is kept').toBeGreaterThanOrEqual(blocks?.promisedUs ?? Infinity);
    }
    const holding = call.before.find(({ generation }) => generation === action.generation);
    for (const read of holding?.reads ?? []) expectKnows(read, call);
  }
}

/**
 * Blocks are never freed during a read, unless the reader has ended it or gets a notice in the same
 * event.
 */
function expectKnows(read: HoldingView['reads'][number], call: SourceCall): void {
  const { reader, readerRequestId } = read;
  const isItsOwnWord = 'reader' in call.fact && call.fact.reader === reader;
  const isTold = call.actions.some(
    (action) =>
      action.kind === 'answer-read' &&
      action.outcome === 'expired' &&
      action.to === reader &&
      action.readerRequestId === readerRequestId,
  );
  expect(isItsOwnWord || isTold, `${reader} reads freed blocks`).toBe(true);
}
