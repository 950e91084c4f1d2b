import type { EngineJob, Stage } from '@baton/contract';
import { Engine, type EnginePort } from '@baton/engine';
import type { TakenJob, Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { World } from '../../test/test-world';

type Flow = 'route' | 'local';
type Calls = Record<string, (...args: unknown[]) => unknown>;

/** Throws once, at the first call of one method. */
class Trap {
  isSprung = false;
  isArmed = false;

  constructor(readonly method: string) {}

  spring(): void {
    if (!this.isArmed || this.isSprung) return;
    this.isSprung = true;
    throw new Error(`injected at ${this.method}`);
  }

  /** The object, whose method throws once, before it has done anything. */
  in<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (name === this.method) this.spring();
          return (value as Calls[string]).apply(target, args);
        };
      },
    });
  }
}

const FLOWS: Readonly<Record<Flow, readonly Stage[]>> = {
  route: ['prefill', 'decode'],
  local: ['aggregated'],
};

const ENGINE_STEPS: readonly (readonly [Flow, Stage, string])[] = [
  ...(['submit', 'snapshot', 'hasWork', 'beginStep', 'endStep', 'releaseHeld'] as const).map(
    (method) => ['route', 'prefill', method] as const,
  ),
  ...(
    ['submit', 'snapshot', 'hasWork', 'beginStep', 'reserveNext', 'kvArrived', 'endStep'] as const
  ).map((method) => ['route', 'decode', method] as const),
  ...(['submit', 'snapshot', 'beginStep', 'endStep'] as const).map(
    (method) => ['local', 'aggregated', method] as const,
  ),
];

/** Calls of the broker on the way of a job, each with the part of the port that has it. */
const BROKER_STEPS: readonly (readonly [Flow, Stage, string])[] = [
  ['route', 'prefill', 'taken.handOver'],
  ['route', 'decode', 'taken.finishJob'],
  ['local', 'aggregated', 'taken.finishJob'],
];

describe('an engine host whose parts throw', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  /** A request meets the trap, and a second one comes behind it. */
  async function serveAfter(trap: Trap, flow: Flow): Promise<void> {
    trap.isArmed = true;
    await world.submit(1, { flow, outputTokens: 20 });
    await world.wall.advanceUntil(() => trap.isSprung, 5_000_000);
    expect(trap.isSprung, `${trap.method} is called`).toBe(true);
    await world.submit(2, { flow });
    expect(await world.untilEnded(2), 'the next request ends').toBe(true);
    expect(world.ended(2)).toMatchObject({ reason: 'length', first: 5 });
    await world.wall.advance(60_000_000);
    expect(world.blocksInUse(), 'no block is lost').toBe(0);
  }

  it.each(ENGINE_STEPS)('serves the next %s request when %s throws at %s', async (...step) => {
    const [flow, stage, method] = step;
    const trap = new Trap(method);
    for (const each of FLOWS[flow])
      await world.host(each, {
        buildEngine: (options): EnginePort => {
          const engine = new Engine(options);
          return each === stage ? trap.in(engine) : engine;
        },
      });
    await serveAfter(trap, flow);
  });

  it.each(BROKER_STEPS)('serves the next %s request when %s throws at %s', async (...step) => {
    const [flow, stage, call] = step;
    const [part = '', method = ''] = call.split('.');
    const trap = new Trap(method);
    const wrap = (transport: Transport): Transport => trapIn(trap, transport, part);
    for (const each of FLOWS[flow]) await world.host(each, each === stage ? { wrap } : {});
    await serveAfter(trap, flow);
  });

  it('goes on with its request after mail of a kind that it does not know', async () => {
    const host = await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 20 });
    await world.wall.advanceUntil(() => world.tokens(1).length > 0, 5_000_000);
    await world.tell(host, { kind: 'from-a-newer-version' });
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'length' });
  });

  it.each<[string, unknown]>([
    ['no data', {}],
    ['null', null],
    ['a text', 'job'],
    ['no flow', { flow: undefined }],
    ['another flow', { flow: 'sideways' }],
    ['a length that is a text', { promptTokens: '40' }],
    ['hashes that are none', { blockHashes: [null] }],
    ['a length that is no count', { outputTokens: -1 }],
    ['no end', { endReason: undefined }],
    ['a place that is none', { placed: { stage: 'nowhere' } }],
  ])('drops and counts a job with %s, and serves the next one', async (_what, fault) => {
    const host = await world.host('aggregated', {
      wrap: (transport) => breakFirst(transport, fault),
    });
    for (const id of [1, 2, 3]) await world.submit(id, { flow: 'local' });
    await world.untilEnded(2, 3);
    expect(world.of(1)).toEqual([]);
    expect(world.tokens(3)).toHaveLength(5);
    expect(await world.api.jobs.waiting('aggregated')).toBe(0);
    expect(host.presence().counters['jobs_dropped']).toBe(1);
    await settle();
    expect(host.runs.size).toBe(0);
  });
});

/** The transport of one host, with the trap in a part of it or in each job that it takes. */
function trapIn(trap: Trap, transport: Transport, part: string): Transport {
  if (part !== 'taken') {
    const trapped = trap.in((transport as unknown as Record<string, object>)[part]!);
    return with_(transport, { [part]: trapped });
  }
  return onTaken(transport, (taken) => trap.in(taken));
}

/** The data of the first job is not what the API wrote. */
function breakFirst(transport: Transport, fault: unknown): Transport {
  let isFirst = true;
  return onTaken(transport, (taken) => {
    if (!isFirst) return taken;
    isFirst = false;
    const isPart = typeof fault === 'object' && fault !== null && Object.keys(fault).length > 0;
    const job = isPart ? { ...taken.job, ...fault } : fault;
    return with_(taken, { job: job as EngineJob });
  });
}

function onTaken(transport: Transport, change: (taken: TakenJob) => TakenJob): Transport {
  const consume: Transport['jobs']['consume'] = (queue, options) =>
    transport.jobs.consume(queue, { ...options, onJob: (taken) => options.onJob(change(taken)) });
  return with_(transport, { jobs: with_(transport.jobs, { consume }) });
}

/** The same object with some members replaced. */
function with_<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get: (_target, name) => {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as Calls[string]).bind(target) : value;
    },
  });
}
