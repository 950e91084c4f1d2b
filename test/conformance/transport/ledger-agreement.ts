import { randomUUID } from 'node:crypto';
import type { Epoch, Stage } from '@baton/contract';
import type { Transport } from '@baton/transport';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PrivateRedis } from '../../support/redis-server';
import { runsOf } from '../../support/runs';
import { handoff, inProcessWorld, redisWorld, start, type World } from './world';

/** One call of the ledger. `pick` chooses among the epochs so far. */
type Word =
  | { kind: 'begin'; submission: number; stage: Stage; apiId: string; maxRuns: number }
  | { kind: 'handOver' | 'lose' | 'returnToPrefill' | 'fail' | 'withdraw' | 'finish'; pick: number }
  | { kind: 'resubmit'; submission: number; apiId: string }
  | { kind: 'abort' | 'abandon' };

const submission = fc.integer({ min: 1, max: 4 });
const apiId = fc.constantFrom('lives', 'lives', 'lives', 'ghost');
const pick = fc.nat({ max: 3 });
const word: fc.Arbitrary<Word> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      submission,
      stage: fc.constantFrom<Stage>('prefill', 'decode', 'aggregated'),
      apiId,
      maxRuns: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('handOver', 'lose', 'returnToPrefill', 'fail', 'withdraw', 'finish'),
      pick,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('resubmit' as const), submission, apiId }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'abandon' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'abort' as const }) },
);

/**
 * The two ledgers are written in two languages. They must give the same answers to the same calls.
 */
export function describeLedgerAgreement(server: () => PrivateRedis): void {
  describe('ledgers of both adapters', () => {
    const worlds: World[] = [];
    const transports: Transport[] = [];
    beforeAll(async () => {
      worlds.push(inProcessWorld(), redisWorld(server()));
      for (const world of worlds) {
        const transport = await world.connect();
        await transport.presence.announceApi('lives', 600_000);
        transports.push(transport);
      }
    });
    afterAll(async () => {
      for (const world of worlds) await world.close();
    });

    it('answer any sequence of calls alike', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(word, { maxLength: 24 }), async (words) => {
          const requestId = randomUUID();
          const [memory, redis] = await Promise.all(
            transports.map((transport) => converse(transport, requestId, words)),
          );
          expect(redis).toEqual(memory);
        }),
        { numRuns: runsOf(200) },
      );
    });

    it('only raise epochs, and end a request once', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(word, { maxLength: 24 }), async (words) => {
          const answers = await converse(transports[0] as Transport, randomUUID(), words);
          const epochs = answers.flatMap(({ epoch }) => (epoch === undefined ? [] : [epoch]));
          expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
          const ends = answers.filter(
            ({ said, answer }) => said.kind === 'finish' && answer === true,
          );
          expect(ends.length).toBeLessThanOrEqual(1);
        }),
        { numRuns: runsOf(200) },
      );
    });
  });
}

interface Answer {
  readonly said: Word;
  readonly answer: unknown;
  readonly view: unknown;
  readonly epoch: Epoch | undefined;
}

async function converse(
  { ledger }: Transport,
  requestId: string,
  words: readonly Word[],
): Promise<Answer[]> {
  const epochs: Epoch[] = [];
  const answers: Answer[] = [];
  for (const said of words) {
    const answer = await say(said);
    const epoch = epochOf(answer);
    if (epoch !== undefined) epochs.unshift(epoch);
    answers.push({ said, answer, view: (await ledger.inspect([requestId]))[0], epoch });
  }
  return answers;

  function say(said: Word): Promise<unknown> {
    switch (said.kind) {
      case 'begin':
        return ledger.begin(start({ ...said, requestId }));
      case 'handOver':
        return ledger.handOff(requestId, chosen(said.pick), handoff(chosen(said.pick)));
      case 'returnToPrefill':
        return ledger.returnToPrefill(requestId, chosen(said.pick));
      case 'lose':
        return ledger.returnToPrefill(requestId, chosen(said.pick), 'source-lost');
      case 'fail':
        return ledger.failRun(requestId, chosen(said.pick));
      case 'withdraw':
        return ledger.withdraw(requestId, chosen(said.pick));
      case 'finish':
        return ledger.finishRequest(requestId, chosen(said.pick), {
          reason: 'stop',
          tokens: said.pick,
        });
      case 'resubmit':
        return ledger.resubmit({ ...said, requestId });
      case 'abort':
        return ledger.abort([requestId]);
      case 'abandon':
        return ledger.abandon(requestId);
    }
  }

  /** Mostly the newest, sometimes an older one, sometimes one that never existed. */
  function chosen(index: number): Epoch {
    return epochs[Math.max(0, index - 1)] ?? 1;
  }
}

function epochOf(answer: unknown): Epoch | undefined {
  const isPermit = typeof answer === 'object' && answer !== null && 'epoch' in answer;
  return isPermit ? Number(answer.epoch) : undefined;
}
