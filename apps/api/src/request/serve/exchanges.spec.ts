import { EventEmitter } from 'node:events';
import type { BatonError, EngineJob, Placed } from '@baton/contract';
import type { AnswerHead } from '@baton/openai';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Aborter } from '../../frames/aborter';
import { SequenceTable } from '../../sequences/sequence-table';
import type { ReaderWatch } from '../../http/streaming/reader-watch';
import type { Observers } from '../../observers/port/observers';
import type { Legs } from '../../routers/legs';
import type { PlannedRequest } from '../admit/admission';
import type { AdmissionGate } from '../admit/admission-gate';
import { Exchanges } from './exchanges';
import type { JobPlacement } from './job-placement';
import type { Answer } from '../answer/answer';
import type { Exchange } from './exchange';

/** A connection that sends nothing. */
class FakeResponse extends EventEmitter {
  destroy(): void {
    this.emit('close');
  }
}

interface Opened {
  readonly exchange: Exchange;
  readonly response: FakeResponse;
}

describe('the exchanges of this process', () => {
  let visits: string[];
  let answer: Answer;
  let table: SequenceTable;
  let stuck: () => void;
  let exchanges: Exchanges;

  beforeEach(() => {
    visits = [];
    const visit = (name: string): void => void visits.push(name);
    answer = {
      complete: () => visit('complete'),
      endSequence: () => visit('end'),
      fail: ({ code }: BatonError) => visit(`fail ${code}`),
    } as unknown as Answer;
    table = new SequenceTable(4);
    exchanges = new Exchanges(
      table,
      { moved: () => undefined } as unknown as AdmissionGate,
      { abort: (ids: readonly string[]) => visit(`abort ${ids.join()}`) } as unknown as Aborter,
      {
        opened: () => visit('observed'),
        ended: () => undefined,
        closed: () => undefined,
      } as unknown as Observers,
      { opened: () => visit('placed') } as unknown as JobPlacement,
      { heldAs: () => visit('leg') } as unknown as Legs,
      { watch: (_: unknown, onStuck: () => void) => (stuck = onStuck) } as unknown as ReaderWatch,
    );
  });

  function open(requestId: string, rest: object = {}, placed?: Placed): Opened {
    const response = new FakeResponse();
    const request = {
      call: { requestId, response },
      checked: { request: { prompts: [{ ids: [1, 2, 3] }] } },
      leg: { kind: 'none' },
      routes: [{ stage: 'prefill' }],
      ...rest,
    } as unknown as PlannedRequest;
    const [streamId] = table.nextIds(1);
    const job = { requestId: `job-${requestId}`, flow: 'route', streamId, placed } as EngineJob;
    const head = { id: `answer-${requestId}` } as AnswerHead;
    const exchange = exchanges.open(request, { head, jobs: [job], answer });
    visits = visits.filter((name) => name !== 'observed');
    return { exchange, response };
  }

  it('follows a request until its connection closes, and aborts the sequences that still run', () => {
    const { response } = open('a');
    expect(exchanges.count).toBe(1);
    response.emit('close');
    expect([exchanges.count, visits]).toEqual([0, ['abort job-a']]);
  });

  it('answers with an error when the whole answer cannot be rendered', () => {
    answer.complete = () => {
      throw new Error('cannot be rendered');
    };
    const { exchange } = open('a');
    exchange.onEnd(exchange.sequences[0]!, 0);
    expect(() => exchange.flush()).toThrow('cannot be rendered');
    expect(visits).toContain('fail engine_error');
  });

  it('settles a charge with the used tokens', () => {
    const charge = { settle: (tokens: number) => visits.push(`settle ${tokens}`) };
    open('a', { charge }).response.emit('close');
    expect(visits).toEqual(['abort job-a', 'settle 3']);
  });

  it.each([
    [undefined, 2, ['a', 'b']],
    [['a'], 1, ['a']],
    [['answer-b'], 1, ['b']],
    [['c'], 0, []],
  ])('ends those named %s, by either name, with what they have got', (names, count, ended) => {
    open('a');
    open('b');
    expect(exchanges.abort(names)).toBe(count);
    expect(visits).toEqual(ended.flatMap((id) => ['end', `abort job-${id}`, 'complete']));
  });

  it('ends all requests with an error when the process ends', () => {
    open('a');
    exchanges.endAll();
    expect(visits).toEqual(['abort job-a', 'fail shutting_down']);
  });

  it('settles when all requests then under way have ended, whatever comes later', async () => {
    const { response } = open('a');
    const settled = exchanges.settled();
    open('b');
    response.emit('close');
    await settled;
    expect(exchanges.count).toBe(1);
  });

  it('hangs up on a reader that is stuck', () => {
    open('a');
    stuck();
    expect([exchanges.count, visits]).toEqual([0, ['abort job-a']]);
  });

  it('calls no part of other routers for a request that is no leg', () => {
    open('a');
    expect(visits).toEqual([]);
    open('b', { leg: { kind: 'hold', pairs: [], shows: () => ({}) } });
    expect(visits).toEqual(['leg']);
  });

  it('counts each sequence in its first stage, and follows jobs that have been placed', () => {
    const { exchange } = open('a', {}, { stage: 'prefill' });
    expect(exchange.sequences.map(({ waitingIn }) => waitingIn)).toEqual(['prefill']);
    expect(visits).toEqual(['placed']);
  });
});
