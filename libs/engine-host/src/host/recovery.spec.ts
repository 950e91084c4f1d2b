import type { EngineJob, EngineMessage } from '@baton/contract';
import { Engine } from '@baton/engine';
import { channels } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, TOKEN_US, World } from '../../test/test-world';
import type { EngineHost } from './engine-host';

const ALL = [0, 1, 2, 3, 4];

describe('engine hosts under faults', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  async function prefillAndDecode(): Promise<[EngineHost, EngineHost]> {
    return [await world.host('prefill'), await world.host('decode')];
  }

  function tokensOf(streamId: number, epoch: number): number[] {
    return world
      .of(streamId)
      .filter((entry) => entry.epoch === epoch && entry.kind === 'tokens')
      .map(({ first }) => first);
  }

  async function until(isReached: () => boolean): Promise<void> {
    expect(await world.wall.advanceUntil(isReached, 60_000_000)).toBe(true);
  }

  it.each([
    ['while its prompt is computed', (w: World) => w.wall.advance(PROMPT_US / 2)],
    [
      'once it is handed over',
      (w: World) => w.wall.advanceUntil(() => w.kinds(1).includes('prefill handed-over'), 1e6),
    ],
    ['while its KV is on the way', (w: World) => w.wall.advance(PROMPT_US + 500)],
    [
      'while it generates',
      (w: World) => w.wall.advanceUntil(() => w.tokens(1).length > 1, 10_000_000),
    ],
  ])('free both sides when a request is aborted %s', async (_when, reach) => {
    await prefillAndDecode();
    await world.submit(1, { outputTokens: 100 });
    await reach(world);
    await world.abort('request-1-0');
    await world.wall.advance(PROMPT_US + TOKEN_US);
    const received = world.tokens(1).length;
    expect(world.blocksInUse()).toBe(0);
    await world.wall.advance(1_000_000);
    expect(world.tokens(1)).toHaveLength(received);
    expect(await world.api.jobs.waiting('decode')).toBe(0);
  });

  it('find an abort whose message was lost within the second', async () => {
    await prefillAndDecode();
    await world.submit(1, { outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    await world.api.ledger.abort(['request-1-0']);
    await world.wall.advance(1_100_000);
    expect(world.blocksInUse()).toBe(0);
  });

  it('also find the abort of a prompt that waits for decode', async () => {
    await world.host('prefill');
    await world.submit(1);
    await until(() => world.kinds(1).includes('prefill handed-over'));
    expect(world.blocksInUse()).toBeGreaterThan(0);
    await world.api.ledger.abort(['request-1-0']);
    await world.wall.advance(1_100_000);
    expect(world.blocksInUse()).toBe(0);
  });

  it(
    'hold KV for a decode engine that is late on the wall clock, however fast simulated time ' +
      'runs',
    async () => {
      const prefill = await world.host('prefill', { speedup: 500 });
      await world.submit(1);
      await until(() => world.kinds(1).includes('prefill handed-over'));
      await world.wall.advance(2_000_000);
      await world.host('decode', { speedup: 500 });
      await until(() => world.kinds(1).includes('decode end'));
      expect(world.ended(1)).toMatchObject({ reason: 'length' });
      const { counters } = prefill.presence();
      expect([counters['runs_started'], counters['kv_released_expired']]).toEqual([1, 0]);
    },
  );

  it('store a result as soon as the broker is back', async () => {
    await world.host('aggregated');
    const job = await world.submit(1, { flow: 'local' });
    await until(() => world.tokens(1).length === 4);
    world.hub.goAway();
    await world.wall.advance(TOKEN_US);
    world.hub.comeBack();
    await world.wall.advance(1_100_000);
    const [view] = await world.api.ledger.inspect([job.requestId]);
    expect(view?.result).toEqual({ reason: 'length', tokens: 5 });
  });

  it('end the requests of an API that died', async () => {
    await prefillAndDecode();
    await world.submit(1, { outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    await world.api.presence.removeApi('api-test');
    await world.wall.advance(1_100_000);
    expect(world.blocksInUse()).toBe(0);
  });

  it('serve a request again when an API resubmits it after it was considered dead', async () => {
    await prefillAndDecode();
    const job = await world.submit(1, { outputTokens: 60 });
    await until(() => world.tokens(1).length > 3);
    await world.api.presence.removeApi('api-test');
    await world.wall.advance(1_100_000);
    expect(world.blocksInUse()).toBe(0);
    await world.api.presence.announceApi('api-test', 3_600_000);
    await world.api.ledger.resubmit({ ...job, submission: 2 });
    await world.api.jobs.add('prefill', [{ ...job, submission: 2 }]);
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 60 });
    expect(world.blocksInUse()).toBe(0);
  });

  it(
    'serve a request resubmitted to a broker without its record, while the old ' +
      'run still goes on',
    async () => {
      await world.host('aggregated');
      const job = await world.submit(1, { flow: 'local', outputTokens: 400 });
      await until(() => world.tokens(1).length > 3);
      world.forgetRecords();
      const again = { ...job, submission: job.submission + 1 };
      await world.api.ledger.resubmit(again);
      await world.wall.advance(1_100_000);
      await world.api.jobs.add('aggregated', [again]);
      await world.untilEnded(1);
      expect(world.ended(1)).toMatchObject({ reason: 'length', first: 400 });
      expect(world.blocksInUse()).toBe(0);
    },
  );

  it('keep running when the job of an older submission comes late', async () => {
    await world.host('aggregated');
    const late = { ...world.job(1, { flow: 'local', outputTokens: 50 }), submission: 1 };
    await world.submit(1, { ...late, submission: 2 });
    await until(() => world.tokens(1).length > 3);
    await world.api.jobs.add('aggregated', [late]);
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 50 });
    expect(new Set(world.of(1).map(({ epoch }) => epoch)).size).toBe(1);
    expect(await world.api.jobs.waiting('aggregated')).toBe(0);
    expect(world.blocksInUse()).toBe(0);
  });

  it('end the old run when a request comes again, and send every token again', async () => {
    const host = await world.host('aggregated');
    const job = await world.submit(1, { flow: 'local', outputTokens: 50 });
    await until(() => world.tokens(1).length > 3);
    await world.api.ledger.resubmit({ ...job, submission: 2 });
    await world.api.jobs.add('aggregated', [{ ...job, submission: 2 }]);
    await world.untilEnded(1);
    const epoch = world.ended(1)?.epoch ?? 0;
    expect(tokensOf(1, epoch)).toEqual(Array.from({ length: 49 }, (_none, i) => i));
    expect(host.presence().gauges.running).toBe(0);
    expect(world.blocksInUse()).toBe(0);
  });

  it('stop silently and at once when the lock of a job is lost', async () => {
    const host = await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    const received = world.of(1).length;
    world.loseLocks();
    await world.wall.advance(TOKEN_US);
    expect(host.presence().gauges.running).toBe(0);
    expect(world.blocksInUse()).toBe(0);
    expect(world.of(1)).toHaveLength(received);
  });

  /** Asks for another run of a request that may have only one. */
  async function permitOfOnlyRun({ requestId, submission, apiId }: EngineJob): Promise<string> {
    const place = { stage: 'aggregated', engineId: 'other' } as const;
    const start = { requestId, submission, apiId, ...place, maxRuns: 1 };
    return (await world.api.ledger.begin(start)).kind;
  }

  it('withdraw the run of a late worker from the count of its request', async () => {
    await world.host('aggregated');
    const job = await world.submit(1, { flow: 'local', outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    world.loseLocks();
    await settle();
    expect(await permitOfOnlyRun(job)).toBe('run');
  });

  it('count the run of a dead worker apart, and end its request after ten', async () => {
    const host = await world.host('aggregated');
    const job = await world.submit(1, { flow: 'local', outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    await world.kill(host);
    await settle();
    const permits: string[] = [];
    for (let death = 1; death <= 10; death += 1) permits.push(await permitOfOnlyRun(job));
    expect(permits).toEqual([...Array<string>(9).fill('run'), 'exhausted']);
  });

  it('drop a run whose record the broker has lost: the API resubmits it', async () => {
    const host = await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 400 });
    await until(() => world.tokens(1).length > 0);
    world.hub.comeBack({ withoutData: true });
    await world.wall.advance(1_100_000);
    expect(host.presence().gauges.running).toBe(0);
    expect(world.blocksInUse()).toBe(0);
  });

  it('compute the prompt again when its lease expired before decode came', async () => {
    await world.host('prefill', { host: { kvLeaseUs: 1_000_000 } });
    await world.submit(1);
    await world.wall.advance(3_000_000);
    expect(world.blocksInUse()).toBe(0);
    await world.host('decode');
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 5 });
    expect(world.kinds(1).filter((kind) => kind === 'prefill handed-over')).toHaveLength(2);
    expect(world.tokens(1)).toEqual(ALL);
    expect(world.blocksInUse()).toBe(0);
  });

  it('compute the prompt again when its holder is gone', async () => {
    const prefill = await world.host('prefill');
    await world.submit(1);
    await until(() => world.kinds(1).includes('prefill handed-over'));
    await world.kill(prefill);
    await world.host('prefill');
    await world.host('decode');
    await world.untilEnded(1);
    expect(world.tokens(1)).toEqual(ALL);
    expect(world.ended(1)?.reason).toBe('length');
  });

  it('fail it instead under worker_loss_policy fail', async () => {
    const prefill = await world.host('prefill');
    await world.submit(1);
    await until(() => world.kinds(1).includes('prefill handed-over'));
    await world.kill(prefill);
    await world.host('decode', { host: { workerLossPolicy: 'fail' } });
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"worker_lost"' });
    expect(world.blocksInUse()).toBeGreaterThan(0);
  });

  it('send missed frames of running and ended sequences again', async () => {
    const host = await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 20 });
    await until(() => world.tokens(1).length === 8);
    const before = world.of(1).length;
    await ask(host, 3);
    expect(world.of(1)[before]).toMatchObject({ kind: 'tokens', first: 3, count: 5 });
    await world.untilEnded(1);
    const ended = world.of(1).length;
    await ask(host, 15);
    expect(world.of(1)[ended]).toMatchObject({ kind: 'end', first: 20, count: 5 });
  });

  async function ask(host: EngineHost, fromIndex: number): Promise<void> {
    const message: EngineMessage = {
      kind: 'resend',
      apiId: 'api-test',
      requestId: 'request-1-0',
      streamId: 1,
      fromIndex,
    };
    const payload = Buffer.from(JSON.stringify(message));
    world.api.bus.publish(channels.engine(host.engineId), payload);
    await settle();
  }

  it('end every request of an engine that throws, and continue with a new engine', async () => {
    let isBroken = false;
    class Fragile extends Engine {
      override endStep(): ReturnType<Engine['endStep']> {
        if (isBroken) throw new Error('an invariant does not hold');
        return super.endStep();
      }
    }
    const host = await world.host('aggregated', { buildEngine: (options) => new Fragile(options) });
    await world.submit(1, { flow: 'local', outputTokens: 100 });
    await until(() => world.tokens(1).length > 0);
    isBroken = true;
    await until(() => world.ended(1) !== undefined);
    isBroken = false;
    expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"engine_error"' });
    await world.submit(2, { flow: 'local' });
    await world.untilEnded(2);
    expect(world.tokens(2)).toEqual(ALL);
    expect(host.presence().counters['steps']).toBeGreaterThan(5);
    expect(world.blocksInUse()).toBe(0);
  });

  it('fail a request whose runs are used up, with a code', async () => {
    await world.host('aggregated', { host: { maxRuns: 2 } });
    const job = await world.submit(1, { flow: 'local', outputTokens: 100 });
    for (const submission of [2, 3]) {
      await world.wall.advance(100_000);
      await world.api.ledger.resubmit({ ...job, submission });
      await world.api.jobs.add('aggregated', [{ ...job, submission }]);
      await settle();
    }
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"attempts_exhausted"' });
    await world.wall.advance(TOKEN_US);
    expect(world.blocksInUse()).toBe(0);
  });

  it('return waiting jobs when they drain, and finish running ones', async () => {
    const first = await world.host('aggregated', { engine: { maxNumSeqs: 2 } });
    const ids = [1, 2, 3, 4];
    await Promise.all(ids.map((id) => world.submit(id, { flow: 'local', outputTokens: 50 })));
    await until(() => world.tokens(1).length > 0);
    const stopped = world.stop(first, 10_000);
    await world.host('aggregated');
    await world.untilEnded(...ids);
    await world.wall.advance(100_000);
    await stopped;
    for (const id of ids) expect(new Set(world.tokens(id)).size).toBe(50);
    expect((await world.api.presence.engines()).map(({ engineId }) => engineId)).not.toContain(
      first.engineId,
    );
  });
});
