import { describe, expect, it } from 'vitest';
import { leaseTimes } from './lease';
import { type HandoffEntry, lifecycleOf } from './lifecycle';
import { SourceCoordinator } from './source-coordinator';
import type { SourceFact } from './source-protocol';
import { TargetCoordinator } from './target-coordinator';
import type { TargetFact } from './target-protocol';

/**
 * One source and one target whose calls are written down; `offset` moves instants, epochs and
 * generations.
 */
function record(offset: number, facts: readonly (SourceFact | TargetFact)[]): HandoffEntry[] {
  const lease = leaseTimes();
  const source = new SourceCoordinator({ lease, firstGeneration: 1 + offset });
  const target = new TargetCoordinator({
    lease,
    answerWithinUs: 1_000,
    ports: 1,
    bytesPerToken: 2,
    bytesPerBlock: 4,
  });
  return facts.map((given): HandoffEntry => {
    const fact = { ...given, nowUs: given.nowUs + offset };
    if (isSourceFact(fact)) {
      return { side: 'source', engineId: 'p', fact, actions: source.handle(fact) };
    }
    return { side: 'target', engineId: 'd', fact, actions: target.handle(fact) };
  });
}

function isSourceFact(fact: SourceFact | TargetFact): fact is SourceFact {
  return ['prompt-held', 'read-requested', 'read-ended', 'heartbeat'].includes(fact.kind);
}

function handoff(offset: number): Record<string, SourceFact | TargetFact> {
  const name = { requestId: 'r', epoch: 1 + offset, generation: 1 + offset };
  const run = { requestId: 'r', epoch: 2 + offset, nowUs: 0 };
  const reading = { ...name, reader: 'd', readerRequestId: 'r', nowUs: 0 };
  return {
    hold: { kind: 'prompt-held', requestId: 'r', epoch: 1 + offset, tokens: 9, nowUs: 0 },
    accept: { kind: 'accepted', ...run, source: { engineId: 'p', ...name } },
    heartbeat: { kind: 'heartbeat', reader: 'd', requestIds: ['r'], nowUs: 0 },
    reserve: { kind: 'reserved', ...run, missingTokens: 4, missingBlocks: 2 },
    read: { kind: 'read-requested', ...reading, attempt: 1 },
    answer: {
      kind: 'read-answered',
      from: 'p',
      requestId: 'r',
      attempt: 1,
      outcome: 'blocks',
      heldTokens: 9,
      bytesPerSecond: 1,
      ports: 1,
      bytesPerToken: 1,
      activeReads: 1,
      nowUs: 0,
    },
    tick: { kind: 'tick', nowUs: 1_000 },
    finish: { kind: 'transfer-done', ...run },
    end: { kind: 'read-ended', ...reading, outcome: 'done' },
  };
}

function play(offset: number, script: string): HandoffEntry[] {
  const facts = handoff(offset);
  return record(
    offset,
    script.split(' ').flatMap((name) => facts[name] ?? []),
  );
}

describe('lifecycleOf', () => {
  it('lists the events of both sides', () => {
    expect(lifecycleOf(play(0, 'hold accept reserve read answer finish end'))).toEqual([
      {
        requestId: 'r',
        source: [['held 9 tokens', 'released: read-done']],
        target: [['accepted', 'reading 4 tokens', 'transferring 8 bytes', 'received']],
      },
    ]);
  });

  it('ignores instants, numbers, repeats, retries and the order between the sides', () => {
    const plain = play(0, 'hold accept reserve read answer finish end');
    const noisy = play(
      5_000,
      'hold hold accept heartbeat accept reserve reserve tick read read answer answer ' +
        'finish finish end end',
    );
    const late = play(0, 'accept hold reserve read answer finish end end');
    expect(lifecycleOf(noisy)).toEqual(lifecycleOf(plain));
    expect(lifecycleOf(late)).toEqual(lifecycleOf(plain));
  });

  it('differs for a different end', () => {
    expect(lifecycleOf(play(0, 'hold accept reserve tick tick'))).not.toEqual(
      lifecycleOf(play(0, 'hold accept reserve read answer finish end')),
    );
  });
});
