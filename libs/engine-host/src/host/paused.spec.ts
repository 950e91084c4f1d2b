import type { Operation } from '@baton/contract';
import { channels } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, TOKEN_US, World } from '../../test/test-world';
import type { EngineHost } from './engine-host';

/** Batches are formed one step ahead; a batch in flight keeps the blocks of ended sequences. */
const AHEAD = { asyncScheduling: true, hasConnector: true };

describe('a paused engine that forms batches ahead', () => {
  let world: World;
  let host: EngineHost;

  beforeEach(async () => {
    world = await World.open();
    host = await world.host('aggregated', { engine: AHEAD });
    await world.submit(1, { flow: 'local', outputTokens: 400 });
    await world.wall.advance(PROMPT_US + 3.5 * TOKEN_US);
  });
  afterEach(() => world.close());

  async function operate(kind: 'pause' | 'resume'): Promise<void> {
    const pause = { kind: 'pause', replyTo: 'test', isSleep: false } as const;
    const operation: Operation = kind === 'pause' ? pause : { kind, replyTo: 'test' };
    world.api.bus.publish(channels.operations, Buffer.from(JSON.stringify(operation)));
    await settle();
  }

  it.each([
    ['in the middle of a step', 0],
    ['after the last step', 5 * TOKEN_US],
  ])('gives back the blocks of a request that is aborted %s', async (_when, restUs) => {
    await operate('pause');
    await world.wall.advance(restUs);
    expect(world.blocksInUse()).toBeGreaterThan(0);
    await world.abort('request-1-0');
    await world.wall.advance(5 * TOKEN_US);
    expect(world.ended(1)?.reason).toBe('abort');
    expect(world.blocksInUse()).toBe(0);
  });

  it('ignores an order that it cannot read', async () => {
    world.api.bus.publish(channels.operations, Buffer.from('{'));
    await settle();
    expect(await world.untilEnded(1)).toBe(true);
    expect(world.ended(1)?.reason).toBe('length');
  });

  it('begins nothing that arrives meanwhile, and goes on with it when resumed', async () => {
    await operate('pause');
    await world.abort('request-1-0');
    await world.submit(2, { flow: 'local' });
    await world.wall.advance(20 * TOKEN_US);
    expect([world.tokens(2), host.presence().gauges.kvUsage]).toEqual([[], 0]);
    await operate('resume');
    expect(await world.untilEnded(2)).toBe(true);
    expect(world.tokens(2)).toEqual([0, 1, 2, 3, 4]);
  });
});
