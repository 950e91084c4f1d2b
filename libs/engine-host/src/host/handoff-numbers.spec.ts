import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { PROMPT_US, World } from '../../test/test-world';
import type { EngineHost } from './engine-host';

const SECOND_US = 1_000_000;

describe('the numbers of a hand-over', () => {
  let world: World;
  let prefill: EngineHost;
  let decode: EngineHost;

  beforeEach(async () => {
    world = await World.open();
    prefill = await world.host('prefill');
    decode = await world.host('decode');
  });

  afterEach(() => world.close());

  /** The hand-over counters that are not 0. */
  const counted = (host: EngineHost): Record<string, number> =>
    Object.fromEntries(
      Object.entries(host.presence().counters).filter(
        ([key, count]) => /^(kv_(?!offload)|nixl)/.test(key) && count !== 0,
      ),
    );

  it('count a holding, its release and its fetch', async () => {
    await world.submit(1);
    await world.untilEnded(1);
    await world.wall.advance(SECOND_US);
    expect(counted(prefill)).toMatchObject({ kv_holdings: 1, kv_released_read_done: 1 });
    expect(counted(decode)).toEqual({ kv_fetched: 1 });
    const { nixl_num_descriptors: descriptors, nixl_bytes_transferred: bytes } =
      decode.presence().histograms;
    // 40 tokens of a byte each, in 3 blocks of 16.
    expect([bytes?.count, bytes?.sum]).toEqual([1, 48]);
    expect([descriptors?.count, descriptors?.sum]).toEqual([1, 3]);
  });

  it('count holdings until their lease ends, and the expiry', async () => {
    await world.submit(1, { flow: 'hold' });
    await world.wall.advance(PROMPT_US + SECOND_US);
    expect(prefill.presence().gauges.handoffs).toMatchObject({ held: 1, being_read: 0 });
    await world.wall.advance(31 * SECOND_US);
    expect(prefill.presence().gauges.handoffs).toMatchObject({ held: 0, being_read: 0 });
    expect(counted(prefill)).toEqual({
      kv_holdings: 1,
      kv_released_expired: 1,
      nixl_num_kv_expired_reqs: 1,
    });
    // Its router got one token, as from vLLM.
    expect(prefill.presence().counters['generation_tokens']).toBe(1);
  });

  it('count waits at the engine that reads the blocks', async () => {
    decode.loop.pause();
    await world.submit(1);
    await world.wall.advanceUntil(
      () => Object.values(decode.presence().gauges.handoffs ?? {}).some((count) => count > 0),
      SECOND_US,
    );
    const { waiting_for_blocks, waiting_for_answer, transferring } =
      decode.presence().gauges.handoffs!;
    expect(waiting_for_blocks + waiting_for_answer + transferring).toBe(1);
    decode.loop.resume();
    await world.untilEnded(1);
    expect(Object.values(decode.presence().gauges.handoffs!)).toEqual([0, 0, 0, 0, 0]);
  });

  it('distinguish an abort from an expiry', async () => {
    const { requestId } = await world.submit(1, { flow: 'hold' });
    await world.wall.advance(PROMPT_US + SECOND_US);
    await world.abort(requestId);
    await settle();
    expect(counted(prefill)).toEqual({ kv_holdings: 1, kv_released_aborted: 1 });
  });

  it('find no block without an owner, whatever happened', async () => {
    await world.submit(1);
    await world.submit(2, { outputTokens: 200 });
    await world.wall.advance(PROMPT_US * 2 + 300_000);
    await world.abort('request-2-0');
    await world.untilEnded(1);
    await world.wall.advance(2 * SECOND_US);
    for (const host of [prefill, decode]) {
      const { gauges, counters } = host.presence();
      expect(gauges.lostBlocks).toBe(0);
      expect(counters['conservation_audits']).toBeGreaterThan(0);
    }
  });
});
