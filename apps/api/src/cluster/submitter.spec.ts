import { BatonError, type EngineJob } from '@baton/contract';
import {
  type QueueName,
  type Transport,
  TransportOutOfMemory,
  TransportUnavailable,
} from '@baton/transport';
import { describe, expect, it } from 'vitest';
import { Submitter } from './submitter';

const job = (part: Partial<EngineJob>): EngineJob => ({ flow: 'route', ...part }) as EngineJob;

function submitterOver(add: (queue: QueueName, jobs: readonly EngineJob[]) => Promise<void>) {
  return new Submitter({ jobs: { add } } as unknown as Transport);
}

describe('the submitter', () => {
  it('adds the jobs of one turn with one call per queue', async () => {
    const calls: [QueueName, number][] = [];
    const submitter = submitterOver((queue, jobs) => {
      calls.push([queue, jobs.length]);
      return Promise.resolve();
    });
    const jobs = Array.from({ length: 10 }, () => job({}));
    await Promise.all([
      ...jobs.map((each) => submitter.submit('prefill', [each])),
      submitter.submit('decode', jobs),
    ]);
    expect(calls).toEqual([
      ['prefill', 10],
      ['decode', 10],
    ]);
    await submitter.submit('prefill', jobs);
    expect(calls).toHaveLength(3);
  });

  it.each([
    [new TransportUnavailable('gone'), 'broker_unavailable'],
    [new TransportOutOfMemory(), 'broker_out_of_memory'],
  ])('says what a failing broker means to the client', async (failure, code) => {
    const submitter = submitterOver(() => Promise.reject(failure));
    const error = await submitter.submit('prefill', [job({})]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BatonError);
    expect((error as BatonError).code).toBe(code);
  });
});
