import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { leaseTimes } from './lease';
import { SourceCoordinator } from './source-coordinator';
import type { SourceAction, SourceFact } from './source-protocol';
import { TargetCoordinator } from './target-coordinator';
import type { TargetAction, TargetFact } from './target-protocol';

const LEASE = leaseTimes(3_000);
const IDS = ['requestId', 'reader', 'readerRequestId', 'to', 'from', 'sourceId', 'engineId'];
const ID_LISTS = ['requestIds', 'readers'];

/** The same value with every id as a name. */
function named(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, field]: [string, unknown]) => {
      if (IDS.includes(key)) return [key, `n${String(field)}`];
      if (ID_LISTS.includes(key) && Array.isArray(field)) {
        return [key, field.map((id) => `n${String(id)}`)];
      }
      return [key, typeof field === 'object' && field !== null ? named(field) : field];
    }),
  );
}

/** A random script of facts that often match the last ones, with a new request now and then. */
class Script {
  holding = { requestId: 0, epoch: 1, generation: 1 };
  question = { from: 0, requestId: 0, attempt: 1 };
  nowUs = 0;
  private readonly random: RandomStream;

  constructor(seed: number) {
    this.random = RandomStream.root(seed);
  }

  hears(action: SourceAction<number> | TargetAction<number>): void {
    if (action.kind === 'hand-over') {
      const { requestId, epoch, generation } = action;
      this.holding = { requestId, epoch, generation };
    } else if (action.kind === 'send-read') {
      const { to, readerRequestId, attempt } = action;
      this.question = { from: to, requestId: readerRequestId, attempt };
    }
  }

  sourceFact(): SourceFact<number> {
    const { random, nowUs, holding } = this;
    const run = this.run();
    const reader = random.integer(3);
    const end = { reader, readerRequestId: holding.requestId, nowUs };
    const outcome = random.integer(3) === 0 ? 'abandoned' : 'done';
    const facts: SourceFact<number>[] = [
      { kind: 'prompt-held', ...run, tokens: 7, nowUs },
      { kind: 'read-requested', ...holding, attempt: random.integer(9), ...end },
      { kind: 'read-requested', ...holding, attempt: random.integer(9), ...end },
      { kind: 'read-ended', ...holding, outcome, ...end },
      { kind: 'heartbeat', reader, requestIds: [run.requestId, holding.requestId], nowUs },
      { kind: 'release-requested', requestId: run.requestId, reader, nowUs },
      { kind: 'aborted', requestId: run.requestId, nowUs },
      { kind: 'superseded', ...run, nowUs },
      { kind: 'tick', nowUs },
    ];
    return facts[random.integer(facts.length)] ?? { kind: 'tick', nowUs };
  }

  targetFact(): TargetFact<number> {
    const { random, nowUs, question } = this;
    const run = this.run();
    const from = random.integer(3);
    const source = { engineId: from, ...run, generation: random.integer(9) };
    const answer = {
      heldTokens: 5,
      bytesPerSecond: 1e9,
      ports: 1,
      bytesPerToken: 1,
      activeReads: 1 + random.integer(3),
    };
    const missingTokens = random.integer(4);
    const missing = { missingTokens, missingBlocks: missingTokens };
    const outcome = random.integer(5) === 0 ? 'expired' : 'blocks';
    const facts: TargetFact<number>[] = [
      { kind: 'accepted', ...run, source, nowUs },
      { kind: 'accepted', ...run, source, nowUs },
      { kind: 'reserved', ...run, ...missing, nowUs },
      { kind: 'reserved', ...run, ...missing, nowUs },
      { kind: 'read-answered', ...question, outcome, ...answer, nowUs },
      { kind: 'read-answered', ...question, outcome, ...answer, nowUs },
      { kind: 'share-changed', from, activeReads: answer.activeReads, nowUs },
      { kind: 'transfer-done', requestId: question.requestId, epoch: run.epoch, nowUs },
      { kind: 'source-lost', engineId: from, nowUs },
      { kind: 'aborted', requestId: run.requestId, nowUs },
      { kind: 'superseded', ...run, nowUs },
      { kind: 'tick', nowUs },
    ];
    return facts[random.integer(facts.length)] ?? { kind: 'tick', nowUs };
  }

  private run(): { requestId: number; epoch: number } {
    const requestId = Math.floor(this.nowUs / 500) + this.random.integer(3);
    return { requestId, epoch: 1 + this.random.integer(2) };
  }
}

describe('coordinators', () => {
  it.each([1, 2, 3, 4, 5, 6])('behave the same for numbers as for names (seed %i)', (seed) => {
    const script = new Script(seed);
    const answerWithinUs = 200;
    const sources = {
      numbered: new SourceCoordinator<number>({ lease: LEASE }),
      named: new SourceCoordinator({ lease: LEASE }),
    };
    const size = { ports: 1, bytesPerToken: 3, bytesPerBlock: 3 };
    const targetOptions = { lease: LEASE, answerWithinUs, ...size };
    const targets = {
      numbered: new TargetCoordinator<number>(targetOptions),
      named: new TargetCoordinator(targetOptions),
    };
    for (let step = 0; step < 4_000; step++) {
      script.nowUs += step % 90;
      const atSource = script.sourceFact();
      const fromSource = sources.numbered.handle(atSource);
      const sameSourceFact = named(atSource) as SourceFact;
      expect(sources.named.handle(sameSourceFact)).toEqual(fromSource.map(named));
      const atTarget = script.targetFact();
      const fromTarget = targets.numbered.handle(atTarget);
      const sameTargetFact = named(atTarget) as TargetFact;
      expect(targets.named.handle(sameTargetFact)).toEqual(fromTarget.map(named));
      for (const action of [...fromSource, ...fromTarget]) script.hears(action);
      expect(sources.numbered.nextWakeUpUs()).toBe(sources.named.nextWakeUpUs());
      expect(targets.numbered.nextWakeUpUs()).toBe(targets.named.nextWakeUpUs());
    }
    expect(sources.numbered.counters).toEqual(sources.named.counters);
    expect(targets.numbered.counters).toEqual(targets.named.counters);
    expect(sources.numbered.counters.released['read-done']).toBeGreaterThan(0);
    expect(targets.numbered.counters.transferredTokens).toBeGreaterThan(0);
  });

  it('send no shares when the transfers of all engines are in one set', () => {
    const source = new SourceCoordinator<number>({ lease: LEASE, sendsShares: false });
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

  it('keep no fact, so that the caller may reuse the object', () => {
    const target = new TargetCoordinator<number>({
      lease: LEASE,
      answerWithinUs: 200,
      ports: 1,
      bytesPerToken: 3,
      bytesPerBlock: 3,
    });
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
