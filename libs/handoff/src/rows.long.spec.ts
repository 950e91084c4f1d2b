import { type Micros, RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { leaseTimes } from './lease';
import { SourceCoordinator } from './source-coordinator';
import type { SourceAction, SourceFact } from './source-protocol';
import { TargetCoordinator } from './target-coordinator';
import type { TargetAction, TargetFact } from './target-protocol';

const LEASE = leaseTimes(30_000);
const REQUESTS = 400;
const ENGINE = 7;
const READER = 8;
const TARGET = {
  lease: LEASE,
  answerWithinUs: 1_000_000,
  ports: 1,
  bytesPerToken: 3,
  bytesPerBlock: 3,
};

interface Coordinators {
  readonly source: SourceCoordinator<number>;
  readonly target: TargetCoordinator<number>;
}

interface Event {
  readonly atUs: Micros;
  readonly row: number;
  readonly what: 'hold' | 'accept' | 'reserve' | 'arrive';
}

/**
 * The prompt of each row is held, accepted by a reader, reserved there, and arrives. No two of
 * these happen at the end of a lease. Some waits are longer than a lease, and some rows find no
 * reader.
 */
function schedule(seed: number): Event[] {
  const random = RandomStream.root(seed);
  const events: Event[] = [];
  const wait = (): Micros => 4 * random.integer(random.integer(3) === 0 ? 12_000 : 600);
  for (let row = 0; row < REQUESTS; row++) {
    const heldUs = 4 * (row * 100 + random.integer(100));
    const acceptedUs = heldUs + wait() + 1;
    const reservedUs = acceptedUs + wait() + 1;
    events.push({ atUs: heldUs, row, what: 'hold' });
    if (random.integer(10) === 0) continue;
    events.push({ atUs: acceptedUs, row, what: 'accept' });
    events.push({ atUs: reservedUs, row, what: 'reserve' });
    events.push({ atUs: reservedUs + wait() + 1, row, what: 'arrive' });
  }
  return events.sort((a, b) => a.atUs - b.atUs);
}

/** Delivers each message at its instant, and notes when blocks are freed and fetches end. */
class Driver {
  readonly ends: unknown[] = [];
  private nowUs: Micros = 0;
  private readonly generations: number[] = [];
  private readonly moving = new Set<number>();

  constructor(private readonly sides: Coordinators) {}

  run(events: readonly Event[]): void {
    for (const event of events) {
      this.tickUntil(event.atUs);
      this.nowUs = event.atUs;
      this.happens(event);
    }
    this.tickUntil(Infinity);
  }

  private tickUntil(untilUs: Micros): void {
    const { source, target } = this.sides;
    for (;;) {
      const dueUs = Math.min(source.nextWakeUpUs() ?? Infinity, target.nextWakeUpUs() ?? Infinity);
      if (dueUs === Infinity || dueUs > untilUs) return;
      this.nowUs = dueUs;
      this.tellSource({ kind: 'tick', nowUs: dueUs });
      this.tellTarget({ kind: 'tick', nowUs: dueUs });
    }
  }

  private happens({ row: requestId, what }: Event): void {
    const { nowUs } = this;
    const run = { requestId, epoch: 1, nowUs };
    const source = { engineId: ENGINE, requestId, epoch: 1 };
    const generation = this.generations[requestId]!;
    if (what === 'hold') this.tellSource({ kind: 'prompt-held', ...run, tokens: 5 });
    else if (what === 'accept') {
      this.tellTarget({ kind: 'accepted', ...run, source: { ...source, generation } });
    } else if (what === 'reserve') {
      this.tellTarget({ kind: 'reserved', ...run, missingTokens: 5, missingBlocks: 5 });
    } else if (this.moving.has(requestId)) this.tellTarget({ kind: 'transfer-done', ...run });
  }

  private tellSource(fact: SourceFact<number>): void {
    for (const action of this.sides.source.handle(fact)) this.onSource(action);
  }

  private tellTarget(fact: TargetFact<number>): void {
    for (const action of this.sides.target.handle(fact)) this.onTarget(action);
  }

  private onSource(action: SourceAction<number>): void {
    const { nowUs } = this;
    if (action.kind === 'hand-over') this.generations[action.requestId] = action.generation;
    else if (action.kind === 'answer-read') {
      const link = { bytesPerSecond: 1e9, ports: 1, bytesPerToken: 3 };
      const { to: _to, readerRequestId: requestId, ...answer } = action;
      const named = { ...answer, kind: 'read-answered', from: ENGINE, requestId } as const;
      this.tellTarget({ ...named, ...link, nowUs });
    } else if (action.kind === 'release-blocks') {
      this.ends.push([nowUs, action.requestId, action.reason, action.readers]);
    }
  }

  private onTarget(action: TargetAction<number>): void {
    const from = { reader: READER, nowUs: this.nowUs };
    if (action.kind === 'send-read') {
      this.tellSource({ ...action, kind: 'read-requested', ...from });
    } else if (action.kind === 'send-read-end') {
      this.tellSource({ ...action, kind: 'read-ended', ...from });
    } else if (action.kind === 'send-heartbeats') {
      this.tellSource({ kind: 'heartbeat', requestIds: action.requestIds, ...from });
    } else if (action.kind === 'start-transfer') this.moving.add(action.requestId);
    else if (action.kind === 'kv-ready') this.ends.push([this.nowUs, action.requestId, 'ready']);
    else if (action.kind === 'kv-failed') {
      this.ends.push([this.nowUs, action.requestId, action.why]);
    }
  }
}

describe('coordinators whose messages cannot fail', () => {
  it.each([1, 2, 3, 4, 5, 6])('end all at the same instants as others (seed %i)', (seed) => {
    const events = schedule(seed);
    const ordinary = new Driver({
      source: new SourceCoordinator<number>({ lease: LEASE }),
      target: new TargetCoordinator<number>(TARGET),
    });
    const rows = new Driver({
      source: new SourceCoordinator<number>({ lease: LEASE, rows: REQUESTS }),
      target: new TargetCoordinator<number>({ ...TARGET, rows: REQUESTS }),
    });
    ordinary.run(events);
    rows.run(events);
    expect(rows.ends).toEqual(ordinary.ends);
    for (const end of ['expired', 'read-done', 'ready']) {
      expect(rows.ends.flat().filter((what) => what === end).length).toBeGreaterThan(20);
    }
  });

  it('send no shares, because the transfers of all engines are in one set', () => {
    const source = new SourceCoordinator<number>({ lease: LEASE, rows: 2 });
    const read = { requestId: 1, epoch: 1, generation: 1, attempt: 1, nowUs: 0 };
    source.handle({ kind: 'prompt-held', requestId: 1, epoch: 1, tokens: 5, nowUs: 0 });
    const answers = [10, 11].map((reader) =>
      source.handle({ kind: 'read-requested', ...read, reader, readerRequestId: reader }),
    );
    expect(answers).toMatchObject([
      [{ kind: 'answer-read', activeReads: 1 }],
      [{ kind: 'answer-read', activeReads: 2 }],
    ]);
  });

  it('pass their actions to the handlers that they were given', () => {
    const given: unknown[] = [];
    const note = (action: SourceAction<number>): void => void given.push(action);
    const handlers = {
      'hand-over': note,
      'answer-read': note,
      'share-changed': note,
      'release-blocks': note,
    };
    const source = new SourceCoordinator<number>({ lease: LEASE, rows: 2 }, handlers);
    const held = { kind: 'prompt-held', requestId: 1, epoch: 1, tokens: 5, nowUs: 0 } as const;
    expect(source.handle(held)).toEqual([]);
    expect(given).toMatchObject([{ kind: 'hand-over', requestId: 1, heldTokens: 5 }]);
  });
});

describe('a coordinator', () => {
  it('keeps no fact, so that the caller may reuse the object', () => {
    const target = new TargetCoordinator<number>(TARGET);
    const source = { engineId: 4, requestId: 1, epoch: 1, generation: 6 };
    const fact = { kind: 'accepted' as const, requestId: 1, epoch: 1, source, nowUs: 0 };
    target.handle(fact);
    Object.assign(source, { engineId: 5, requestId: 2, generation: 7 });
    target.handle(Object.assign(fact, { requestId: 2 }));
    const missing = { missingTokens: 2, missingBlocks: 2 };
    const reserved = { kind: 'reserved' as const, epoch: 1, ...missing, nowUs: 0 };
    const reads = [1, 2].flatMap((requestId) => target.handle({ ...reserved, requestId }));
    expect(reads).toMatchObject([
      { kind: 'send-read', to: 4, requestId: 1, generation: 6 },
      { kind: 'send-read', to: 5, requestId: 2, generation: 7 },
    ]);
  });
});
