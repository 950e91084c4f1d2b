import type { EngineJob } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { entryQueue, routedTo, SharedQueues } from './job-routing';

const job = (part: Partial<EngineJob>): EngineJob => ({ flow: 'route', ...part }) as EngineJob;
const own = { engineId: 'e2', routerId: 'api', ordinal: 1 };

describe('entryQueue', () => {
  it.each([
    [job({ flow: 'route' }), 'prefill'],
    [job({ flow: 'hold' }), 'prefill'],
    [job({ flow: 'attach' }), 'decode'],
    [job({ flow: 'local' }), 'aggregated'],
    [job({ flow: 'hold', engineId: 'e1' }), 'engine:e1'],
    [job({ flow: 'route', placed: { stage: 'prefill', own } }), 'engine:e2'],
    [job({ flow: 'local', placed: { stage: 'decode' } }), 'decode'],
  ])('of %j is %s', (of, queue) => {
    expect(entryQueue(of)).toBe(queue);
  });
});

describe('routedTo', () => {
  it('returns the earlier queue of a job, else the shared one', () => {
    expect(routedTo('decode', job({}), undefined)).toEqual({ queue: 'decode', job: job({}) });
    const placed = { stage: 'decode', own } as const;
    expect(routedTo('decode', job({}), placed)).toEqual({
      queue: 'engine:e2',
      job: job({ placed }),
    });
  });
});

describe('SharedQueues', () => {
  it('leaves jobs unchanged and has no loads', () => {
    const queues = new SharedQueues();
    const given = job({ flow: 'route' });
    expect(queues.atArrival(given)).toEqual({ queue: 'prefill', job: given });
    expect(queues.atHandoff(given)).toEqual({ queue: 'decode', job: given });
    expect(queues.unavailableEngines()).toEqual([]);
    expect(queues.observeForAdmission()).toBeUndefined();
  });
});
