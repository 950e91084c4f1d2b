import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, TRANSFER_US, World } from '../../test/test-world';
import { engineQueue } from '../routing/job-routing';
import type { EngineHost } from './engine-host';

const STARTUP_US = 1_000_000;
const BLOCK = 16;

describe('an engine that begins with the cache of another one', () => {
  let world: World;
  let streams = 0;

  beforeEach(async () => {
    world = await World.open();
  });
  afterEach(() => world.close());

  function engine(startupUs = 0, role: 'aggregated' | 'prefill' = 'aggregated') {
    return world.host(role, { host: { startupUs, fetchesCache: true } });
  }

  /** Sends a prompt of these blocks and 8 more tokens to the engine; returns its stream. */
  async function send(host: EngineHost, blockHashes: number[], outputTokens = 5): Promise<number> {
    const streamId = ++streams;
    const promptTokens = blockHashes.length * BLOCK + 8;
    const given = { flow: 'local' as const, blockHashes, promptTokens, outputTokens };
    await world.api.jobs.add(engineQueue(host.engineId), [world.job(streamId, given)]);
    await settle();
    return streamId;
  }

  /** Prompt tokens that the engine has in its cache. */
  async function found(host: EngineHost, blockHashes: number[]): Promise<number | undefined> {
    const streamId = await send(host, blockHashes);
    await world.untilEnded(streamId);
    return world.of(streamId).find(({ kind }) => kind === 'scheduled')?.extra;
  }

  it('has that of the fullest ready one of its role, once it has crossed its link', async () => {
    const [little, most, other] = [await engine(), await engine(), await engine(0, 'prefill')];
    await world.untilEnded(await send(little, [1]), await send(most, [11, 12, 13]));
    await world.wall.advance(1_000_000);
    const late = await engine(STARTUP_US);
    await world.wall.advance(STARTUP_US + TRANSFER_US - 1);
    expect(late.state).toBe('starting');
    await world.wall.advance(1);
    expect(late.state).toBe('ready');
    expect(await found(late, [11, 12, 13])).toBe(3 * BLOCK);
    expect(await found(late, [1])).toBe(0);
    expect(other.state).toBe('ready');
  });

  it('has the blocks that its peer uses at that instant too', async () => {
    const peer = await engine();
    await send(peer, [11, 12], 900);
    await world.wall.advance(1_000_000);
    expect(peer.runs.size).toBe(1);
    const late = await engine(STARTUP_US);
    await world.wall.advance(STARTUP_US + TRANSFER_US);
    expect(await found(late, [11, 12])).toBe(2 * BLOCK);
  });

  it('begins empty without delay where no other has anything', async () => {
    await engine();
    const late = await engine(STARTUP_US);
    await world.wall.advance(STARTUP_US);
    expect(late.state).toBe('ready');
    expect(await found(late, [11])).toBe(0);
  });

  it('begins empty after a while when its peer does not answer', async () => {
    const peer = await engine();
    await world.untilEnded(await send(peer, [11, 12]));
    await world.wall.advance(PROMPT_US + 1_000_000);
    await world.kill(peer);
    const late = await engine();
    await world.wall.advance(late.options.kvReadTimeoutUs - 1);
    expect(late.state).toBe('starting');
    await world.wall.advance(1);
    expect(late.state).toBe('ready');
    expect(await found(late, [11, 12])).toBe(0);
  });

  it('takes no work when it leaves before the cache has come', async () => {
    const peer = await engine();
    await world.untilEnded(await send(peer, [11, 12]));
    await world.wall.advance(1_000_000);
    const late = await engine(STARTUP_US);
    await world.wall.advance(STARTUP_US);
    const left = world.stop(late, 1_000);
    await world.wall.advance(2_000_000);
    await left;
    expect(late.state).toBe('draining');
    expect((await world.api.presence.engines()).map(({ engineId }) => engineId)).toEqual([
      peer.engineId,
    ]);
  });
});
