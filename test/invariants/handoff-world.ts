import {
  leaseTimes,
  type SourceAction,
  SourceCoordinator,
  type SourceFact,
  type SourceName,
  type TargetAction,
  TargetCoordinator,
  type TargetFact,
} from '@baton/handoff';
import { assert } from '@baton/kernel';
import { expect } from 'vitest';
import { HandoffBooks } from './handoff-books';

/**
 * Sources and targets that exchange messages. A test may deliver, repeat, reorder or lose a
 * message. After every fact the books check the invariants of the hand-over, independently of the
 * coordinators' internals.
 */
export const LEASE_US = 30_000;
const KEEP_US = 70_000;
const ANSWER_WITHIN_US = 1_000;
const SOURCES = ['p0', 'p1'];
const TARGETS = ['d0', 'd1'];
const REQUESTS = ['r0', 'r1', 'r2'];

type Mail =
  | { readonly side: 'source'; readonly to: string; readonly fact: SourceFact }
  | { readonly side: 'target'; readonly to: string; readonly fact: TargetFact };

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}

export class HandoffWorld {
  nowUs = 0;
  mail: Mail[] = [];
  private readonly sources = new Map<string, SourceCoordinator>();
  private readonly targets = new Map<string, TargetCoordinator>();
  private readonly books = new HandoffBooks(LEASE_US);
  private readonly transfers = new Map<string, { target: string; epoch: number; id: string }>();
  private readonly epochs = new Map<string, number>();
  private readonly records = new Map<string, SourceName>();
  private history: { atUs: number; mail: Mail }[] = [];
  private incarnations = 0;

  constructor() {
    for (const id of SOURCES) this.startSource(id);
    for (const id of TARGETS) {
      const lease = leaseTimes(LEASE_US);
      const size = { ports: 1, bytesPerToken: 10, bytesPerBlock: 10 };
      const options = { lease, answerWithinUs: ANSWER_WITHIN_US, ...size };
      this.targets.set(id, new TargetCoordinator(options));
    }
  }

  /** Stops losses and new work, after which all work must end by itself. */
  drain(): void {
    const deadlineUs = this.nowUs + KEEP_US + 4 * LEASE_US;
    for (let round = 0; !this.isAtRest(); round += 1) {
      expect(round, 'the world comes to rest').toBeLessThan(5_000);
      expect(this.nowUs, 'and does so in bounded time').toBeLessThanOrEqual(deadlineUs);
      while (this.mail.length > 0) this.deliver(0);
      for (const [id, target] of this.targets) {
        for (const { requestId, epoch, state } of target.snapshot()) {
          if (state === 'accepted') this.reserve(id, { requestId, epoch }, 3);
        }
      }
      for (const key of [...this.transfers.keys()]) this.finishTransfer(key);
      if (this.mail.length === 0) this.advance(1_000);
    }
  }

  checkTheBooks(): void {
    this.books.checkClosed();
    for (const { counters } of this.sources.values()) {
      expect(sum(counters.released)).toBe(counters.held);
    }
    for (const { counters } of this.targets.values()) {
      expect(sum(counters.failed) + counters.received).toBe(counters.accepted);
    }
  }

  /** How often each terminal state was reached so far. */
  terminals(): Record<string, number> {
    const counts: Record<string, number> = {};
    const add = (name: string, count: number): void => {
      counts[name] = (counts[name] ?? 0) + count;
    };
    for (const { counters } of this.sources.values()) {
      for (const [why, count] of Object.entries(counters.released)) add(`released ${why}`, count);
      add('lost reads', counters.lostReads);
    }
    for (const { counters } of this.targets.values()) {
      for (const [why, count] of Object.entries(counters.failed)) add(`failed ${why}`, count);
      add('received', counters.received);
    }
    return counts;
  }

  hold(source: number, request: number, isKept = false): void {
    const requestId = pick(REQUESTS, request) ?? '';
    const epoch = this.nextEpoch(requestId);
    const fact: SourceFact = {
      kind: 'prompt-held',
      requestId,
      epoch,
      tokens: 5,
      isKept,
      nowUs: this.nowUs,
    };
    this.tellSource(pick(SOURCES, source) ?? '', fact);
  }

  take(kind: 'accepted' | 'rejected', target: number, request: number): void {
    const requestId = pick(REQUESTS, request) ?? '';
    const source = this.records.get(requestId);
    if (source === undefined) return;
    const epoch = this.nextEpoch(requestId);
    const fact = { kind, requestId, epoch, source, nowUs: this.nowUs };
    this.tellTarget(pick(TARGETS, target) ?? '', fact);
  }

  reserveOne(target: number, which: number): void {
    const id = pick(TARGETS, target) ?? '';
    const waiting = this.targets.get(id)?.snapshot() ?? [];
    const fetch = pick(
      waiting.filter(({ state }) => state === 'accepted'),
      which,
    );
    if (fetch !== undefined) this.reserve(id, fetch, which % 3);
  }

  finishOne(which: number): void {
    const key = pick([...this.transfers.keys()], which);
    if (key !== undefined) this.finishTransfer(key);
  }

  deliver(which: number): void {
    const index = which % Math.max(1, this.mail.length);
    const [mail] = this.mail.splice(index, 1);
    if (mail !== undefined) this.tell(mail);
  }

  duplicate(which: number): void {
    const mail = pick(this.mail, which);
    if (mail !== undefined && this.mail.length < 40) this.mail.push(mail);
  }

  drop(which: number): void {
    this.mail.splice(which % Math.max(1, this.mail.length), 1);
  }

  /** The abort reaches the engines whose bit is set in `reaches`. */
  abort(request: number, reaches: number): void {
    const requestId = pick(REQUESTS, request) ?? '';
    const fact = { kind: 'aborted', requestId, nowUs: this.nowUs } as const;
    SOURCES.forEach((id, i) => (reaches & (1 << i)) !== 0 && this.tellSource(id, fact));
    TARGETS.forEach((id, i) => (reaches & (4 << i)) !== 0 && this.tellTarget(id, fact));
  }

  supersede(request: number, engine: number): void {
    const requestId = pick(REQUESTS, request) ?? '';
    const epoch = this.epochs.get(requestId) ?? 0;
    const fact = { kind: 'superseded', requestId, epoch, nowUs: this.nowUs } as const;
    const id = pick([...SOURCES, ...TARGETS], engine) ?? '';
    if (this.sources.has(id)) this.tellSource(id, fact);
    else this.tellTarget(id, fact);
  }

  /**
   * Ends a source process and starts it empty. Each target gets that news sooner or later, or
   * never.
   */
  restartSource(source: number): void {
    const engineId = pick(SOURCES, source) ?? '';
    this.startSource(engineId);
    this.history = this.history.filter(({ mail }) => mail.to !== engineId);
    this.books.sourceDied(engineId);
    for (const to of TARGETS) {
      const fact = { kind: 'source-lost', engineId, nowUs: this.nowUs } as const;
      this.mail.push({ side: 'target', to, fact });
    }
  }

  /**
   * Repeats messages to an engine from within the last lease. A repeated fact of the engine itself
   * must have no effect.
   */
  repeatOld(which: number): void {
    const recent = this.history.filter(({ atUs }) => atUs > this.nowUs - LEASE_US);
    const old = pick(recent, which)?.mail;
    if (old === undefined) return;
    const before = this.picture();
    this.tell(old);
    const ownFacts = ['prompt-held', 'accepted', 'reserved', 'transfer-done', 'rejected'];
    if (ownFacts.includes(old.fact.kind)) expect(this.picture()).toBe(before);
  }

  advance(byUs: number): void {
    const untilUs = this.nowUs + byUs;
    for (let next = this.nextWakeUp(); next <= untilUs; next = this.nextWakeUp()) {
      this.nowUs = Math.max(this.nowUs, next);
      this.tick();
      assert(this.nextWakeUp() > this.nowUs, 'a wake-up is progress');
    }
    this.nowUs = untilUs;
    this.books.checkLeases(this.nowUs);
  }

  private tick(): void {
    const fact = { kind: 'tick', nowUs: this.nowUs } as const;
    for (const id of SOURCES) this.tellSource(id, fact);
    for (const id of TARGETS) this.tellTarget(id, fact);
  }

  private tell(mail: Mail): void {
    if (mail.side === 'source') this.tellSource(mail.to, { ...mail.fact, nowUs: this.nowUs });
    else this.tellTarget(mail.to, { ...mail.fact, nowUs: this.nowUs });
  }

  private tellSource(id: string, fact: SourceFact): void {
    const source = this.sources.get(id);
    if (source === undefined) return;
    this.history.push({ atUs: this.nowUs, mail: { side: 'source', to: id, fact } });
    const before = source.snapshot();
    const actions = source.handle(fact);
    this.books.sourceActed({ engineId: id, fact, before, actions }, this.nowUs);
    for (const action of actions) this.doSource(id, action);
    const after = JSON.stringify(source.snapshot());
    const again = source.handle(fact).filter(({ kind }) => kind !== 'answer-read');
    assert(again.length === 0, `${fact.kind} occurs twice`);
    assert(JSON.stringify(source.snapshot()) === after, `${fact.kind} again changes the source`);
  }

  private tellTarget(id: string, fact: TargetFact): void {
    const target = this.targets.get(id);
    if (target === undefined) return;
    this.history.push({ atUs: this.nowUs, mail: { side: 'target', to: id, fact } });
    for (const action of target.handle(fact)) this.doTarget(id, action);
    for (const fetch of target.snapshot()) {
      this.books.fetchIsOpen(`${id}/${fetch.requestId}/${fetch.epoch}`);
    }
    const after = JSON.stringify(target.snapshot());
    const again = target.handle(fact).filter(({ kind }) => kind !== 'set-share');
    assert(again.length === 0, `${fact.kind} occurs twice`);
    assert(JSON.stringify(target.snapshot()) === after, `${fact.kind} again changes the target`);
  }

  private doSource(id: string, action: SourceAction): void {
    const from = id;
    const nowUs = this.nowUs;
    switch (action.kind) {
      case 'hand-over': {
        const { requestId, epoch, generation } = action;
        this.records.set(requestId, { engineId: id, requestId, epoch, generation });
        return;
      }
      case 'answer-read': {
        const { to, readerRequestId, ...answer } = action;
        this.mail.push({
          side: 'target',
          to,
          fact: {
            ...answer,
            kind: 'read-answered',
            from,
            requestId: readerRequestId,
            bytesPerSecond: 1_000_000,
            ports: 1,
            bytesPerToken: 10,
            nowUs,
          },
        });
        return;
      }
      case 'share-changed':
        for (const to of action.readers) {
          const fact = { kind: action.kind, from, activeReads: action.activeReads, nowUs };
          this.mail.push({ side: 'target', to, fact });
        }
        return;
      case 'release-blocks':
        return;
    }
  }

  private doTarget(reader: string, action: TargetAction): void {
    const nowUs = this.nowUs;
    switch (action.kind) {
      case 'send-read': {
        const { to, ...read } = action;
        this.noteQuestion(reader, action.readerRequestId, action.attempt);
        return this.post(to, { ...read, kind: 'read-requested', reader, nowUs });
      }
      case 'send-read-end': {
        const { to, ...end } = action;
        return this.post(to, { ...end, kind: 'read-ended', reader, nowUs });
      }
      case 'send-heartbeats': {
        const { to, requestIds } = action;
        return this.post(to, { kind: 'heartbeat', reader, requestIds, nowUs });
      }
      case 'send-release': {
        const { to, requestId, generation } = action;
        return this.post(to, { kind: 'release-requested', requestId, generation, reader, nowUs });
      }
      case 'start-transfer': {
        const { requestId, epoch } = action;
        const key = `${reader}/${requestId}/${epoch}`;
        expect(this.transfers.has(key), 'a transfer starts once').toBe(false);
        this.books.transferStarts(key);
        this.transfers.set(key, { target: reader, epoch, id: requestId });
        return;
      }
      case 'cancel-transfer':
        expect(this.transfers.delete(`${reader}/${action.requestId}/${action.epoch}`)).toBe(true);
        return;
      case 'set-share':
        return;
      case 'kv-ready':
      case 'kv-failed': {
        const key = `${reader}/${action.requestId}/${action.epoch}`;
        expect(this.transfers.has(key), 'and its transfer with it').toBe(false);
        this.books.fetchEnds(key);
      }
    }
  }

  private post(to: string, fact: SourceFact): void {
    this.mail.push({ side: 'source', to, fact });
  }

  private reserve(target: string, run: { requestId: string; epoch: number }, n: number): void {
    const { requestId, epoch } = run;
    const nowUs = this.nowUs;
    const missing = { missingTokens: n, missingBlocks: n };
    this.tellTarget(target, { kind: 'reserved', requestId, epoch, ...missing, nowUs });
  }

  private finishTransfer(key: string): void {
    const transfer = this.transfers.get(key);
    if (transfer === undefined) return;
    this.transfers.delete(key);
    const { target, epoch, id: requestId } = transfer;
    this.tellTarget(target, { kind: 'transfer-done', requestId, epoch, nowUs: this.nowUs });
  }

  private startSource(id: string): void {
    this.incarnations += 1;
    const firstGeneration = this.incarnations * 1_000;
    const lease = leaseTimes(LEASE_US, KEEP_US);
    this.sources.set(id, new SourceCoordinator({ lease, firstGeneration }));
  }

  private nextEpoch(requestId: string): number {
    const epoch = (this.epochs.get(requestId) ?? 0) + 1;
    this.epochs.set(requestId, epoch);
    return epoch;
  }

  private nextWakeUp(): number {
    const all = [...this.sources.values(), ...this.targets.values()];
    return Math.min(...all.map((side) => side.nextWakeUpUs() ?? Infinity));
  }

  private isAtRest(): boolean {
    return [...this.sources.values(), ...this.targets.values()].every(
      (side) => side.snapshot().length === 0,
    );
  }

  private picture(): string {
    const all = [...this.sources.values(), ...this.targets.values()];
    return JSON.stringify(all.map((side) => side.snapshot()));
  }

  private noteQuestion(reader: string, requestId: string, attempt: number): void {
    const fetches = this.targets.get(reader)?.snapshot() ?? [];
    const epoch = fetches.find((fetch) => fetch.requestId === requestId)?.epoch ?? 0;
    this.books.fetchAsked(`${reader}/${requestId}/${epoch}`, `${reader}/${attempt}`);
  }

  checkLiveness(): void {
    for (const side of [...this.sources.values(), ...this.targets.values()]) {
      const isAsleep = side.nextWakeUpUs() === undefined;
      assert(isAsleep === (side.snapshot().length === 0), 'a side sleeps when it has nothing');
    }
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
