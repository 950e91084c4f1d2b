import { speedUpTimers } from '@baton/clock';
import type { EngineJob, EngineLoad } from '@baton/contract';
import { channels } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, World } from '../../test/test-world';
import { engineQueue, type RoutedJob, SharedQueues } from '../routing/job-routing';

/** Sends handed-over jobs to the engines' own queues in turn. */
class InTurn extends SharedQueues {
  readonly engines: string[] = [];
  private turn = 0;

  override atHandoff(job: EngineJob): RoutedJob {
    const engineId = this.engines[this.turn % this.engines.length] ?? '';
    this.turn += 1;
    const own = { engineId, routerId: 'prefill', ordinal: this.turn };
    return {
      queue: engineQueue(engineId),
      job: { ...job, placed: { stage: 'decode', own } },
    };
  }
}

describe('an engine in a cluster that places jobs', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  describe('publishes its load', () => {
    let loads: EngineLoad[];

    beforeEach(async () => {
      loads = [];
      speedUpTimers();
      await world.api.bus.subscribe(channels.loads, (load) => {
        loads.push(JSON.parse(load.toString()) as EngineLoad);
      });
    });

    it('when it changes, at most ten times a second, and three times a second without', async () => {
      const host = await world.host('aggregated', { host: { publishesLoad: true } });
      await world.wall.advance(3_000_000);
      expect(loads).toHaveLength(10);
      loads = [];
      await world.submit(1, { flow: 'local', outputTokens: 80 });
      await world.wall.advance(1_000_000);
      expect(loads.length).toBeGreaterThan(4);
      expect(loads.length).toBeLessThanOrEqual(10);
      const { engineId } = host;
      expect(loads[0]).toMatchObject({
        engineId,
        stage: 'aggregated',
        index: 0,
        state: 'ready',
        requests: 1,
        waitingTokens: 0,
        numBlocks: 64,
      });
      expect(loads[0]?.usedBlocks).toBeGreaterThanOrEqual(3);
    });

    it('with the prompt tokens of the step under way, and those that wait', async () => {
      await world.host('prefill', { host: { publishesLoad: true }, engine: { maxNumSeqs: 1 } });
      await world.wall.advance(90_000);
      for (const id of [1, 2, 3]) await world.submit(id, { promptTokens: 400 });
      await world.wall.advance(PROMPT_US / 2);
      // One runs, one more is held ready, the third is in the queue.
      expect(loads.at(-1)).toMatchObject({ requests: 2, waitingTokens: 800 });
    });

    it('with the ordinal of the last placed job that it has taken', async () => {
      const host = await world.host('aggregated', { host: { publishesLoad: true } });
      const { engineId } = host;
      const own = { engineId, routerId: 'api-1', ordinal: 7 };
      const job = world.job(1, { flow: 'local', placed: { stage: 'aggregated', own } });
      await world.api.jobs.add(engineQueue(engineId), [job]);
      await world.untilEnded(1);
      await world.wall.advance(200_000);
      expect(loads.at(-1)?.taken).toEqual({ 'api-1': 7 });
      expect(host.presence().counters['placed_jobs']).toBe(1);
    });

    it('at once when it begins to drain', async () => {
      const host = await world.host('aggregated', { host: { publishesLoad: true } });
      await world.wall.advance(200_000);
      const stopped = world.stop(host, 1_000);
      await settle();
      expect(loads.at(-1)?.state).toBe('draining');
      await world.wall.advance(1_000_000);
      await stopped;
    });

    it('not at all without a policy that reads it', async () => {
      await world.host('aggregated');
      await world.wall.advance(1_000_000);
      expect(loads).toEqual([]);
    });
  });

  it('hands a prompt over to the queue of the chosen decode engine', async () => {
    const routing = new InTurn();
    await world.host('prefill', { routing });
    const decode = [await world.host('decode'), await world.host('decode')];
    routing.engines.push(...decode.map(({ engineId }) => engineId));
    for (const id of [1, 2, 3, 4]) await world.submit(id);
    expect(await world.untilEnded(1, 2, 3, 4)).toBe(true);
    expect(decode.map((host) => host.presence().counters['placed_jobs'])).toEqual([2, 2]);
  });

  it('finds the same decode queue again when the hand-over is repeated', async () => {
    const routing = new InTurn();
    const first = await world.host('prefill', { routing });
    routing.engines.push('decode-1', 'decode-2');
    await world.submit(1);
    await world.wall.advanceUntil(() => world.kinds(1).includes('prefill handed-over'), 1e6);
    expect(await world.api.jobs.waiting('engine:decode-1')).toBe(1);
    // The state that a prefill worker finds when its predecessor died before it could remove the
    // job.
    await world.api.jobs.add('prefill', [world.job(1)]);
    await world.wall.advance(100_000);
    expect(await world.api.jobs.waiting('prefill')).toBe(0);
    expect(await world.api.jobs.waiting('engine:decode-1')).toBe(1);
    expect(await world.api.jobs.waiting('engine:decode-2')).toBe(0);
    expect(first.runs.size).toBe(0);
  });
});
