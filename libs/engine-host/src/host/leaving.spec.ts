import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, World } from '../../test/test-world';
import { engineQueue } from '../routing/job-routing';
import type { EngineHost } from './engine-host';

describe('engines that leave', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  it('pass on a request that has not started, however many engines leave', async () => {
    const busyHost = async (streamId: number): Promise<EngineHost> => {
      const host = await world.host('aggregated', { engine: { maxNumSeqs: 1 } });
      const own = world.job(streamId, { flow: 'local', outputTokens: 60 });
      await world.api.jobs.add(engineQueue(host.engineId), [own]);
      await world.wall.advance(2 * PROMPT_US);
      return host;
    };
    let host = await busyHost(10);
    await world.submit(1, { flow: 'local' });
    const maxRuns = 3;
    for (let i = 1; i <= 2 * maxRuns; i += 1) {
      const next = await busyHost(10 + i);
      expect(host.presence().counters['runs_started']).toBe(2);
      void world.stop(host, Infinity);
      await settle();
      host = next;
    }
    expect(await world.untilEnded(1)).toBe(true);
    expect(world.ended(1)?.reason).toBe('length');
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
  });

  it('take the earlier of two deadlines, as when the process gets a stop signal while it drains', async () => {
    const host = await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 400 });
    await world.wall.advance(5 * PROMPT_US);
    let hasLeft = false;
    void world.stop(host, Infinity).then(() => (hasLeft = true));
    await world.wall.advance(1_000_000);
    expect([hasLeft, host.state]).toEqual([false, 'draining']);
    void world.stop(host, 100);
    await world.wall.advance(200_000);
    expect(hasLeft).toBe(true);
    expect(await world.api.jobs.waiting('aggregated')).toBe(1);
  });
});
