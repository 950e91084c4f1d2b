import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from '../../test/test-world';

const SECOND_US = 1_000_000;
const TIMES = {
  startupUs: 35 * SECOND_US,
  startup: {
    alone: [
      { cause: 'weights', us: 30 * SECOND_US },
      { cause: 'warm-up', us: 5 * SECOND_US },
    ],
    besidePeer: [
      { cause: 'weights-from-peer', us: 8 * SECOND_US },
      { cause: 'warm-up', us: 5 * SECOND_US },
    ],
  },
};

describe('a start by cause', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  /** What the engine's presence says at each of these seconds after its start. */
  async function loadingAt(role: 'prefill' | 'decode', ...seconds: number[]): Promise<string[]> {
    const host = await world.host(role, { host: TIMES });
    const said: string[] = [];
    let now = 0;
    for (const second of seconds) {
      await world.wall.advance((second - now) * SECOND_US);
      now = second;
      const { state, loading } = host.presence();
      said.push(loading ?? state);
    }
    return said;
  }

  it('takes its causes in their order, and says which is under way', async () => {
    const said = await loadingAt('decode', 0.1, 29.9, 30.1, 34.9, 35.1);
    expect(said).toEqual(['weights', 'weights', 'warm-up', 'warm-up', 'ready']);
  });

  it('takes weights from a peer only beside a ready engine of its role', async () => {
    await world.host('decode');
    expect(await loadingAt('decode', 7.9, 8.1, 13.1)).toEqual([
      ...['weights-from-peer', 'warm-up', 'ready'],
    ]);
    expect(await loadingAt('prefill', 8.1, 30.1)).toEqual(['weights', 'warm-up']);
  });

  it('takes no work when it leaves meanwhile', async () => {
    const host = await world.host('decode', { host: TIMES });
    await world.wall.advance(SECOND_US);
    const left = world.stop(host, 1_000);
    await world.wall.advance(60 * SECOND_US);
    await left;
    expect(host.state).toBe('draining');
  });
});
