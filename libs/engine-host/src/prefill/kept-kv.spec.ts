import type { EngineJob, KvTransferParams } from '@baton/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World, type WorldOptions } from '../../test/test-world';
import type { EngineHost } from '../host/engine-host';

/** Two blocks of prompt, two of output: 61 tokens have their KV when the last of 30 is sampled. */
const FIRST = { promptTokens: 32, outputTokens: 30, blockHashes: [11, 12, 13] };
/** The same conversation with the client's next message. */
const SECOND = { promptTokens: 90, outputTokens: 5, blockHashes: [11, 12, 13, 14, 15] };
const UNKNOWN_ENGINE = '00000000-0000-4000-8000-000000000000';

describe('blocks that decode keeps for the next turn', () => {
  let world: World;
  let prefill: EngineHost;
  let decode: EngineHost;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  async function start(options: WorldOptions = {}): Promise<void> {
    prefill = await world.host('prefill', options);
    decode = await world.host('decode', options);
  }

  async function leg(streamId: number, job: Partial<EngineJob>): Promise<KvTransferParams> {
    await world.submit(streamId, job);
    await world.untilEnded(streamId);
    return JSON.parse(world.ended(streamId)?.tail ?? '{}') as KvTransferParams;
  }

  /** Returns what decode has kept. */
  async function firstTurn(): Promise<KvTransferParams> {
    const held = await leg(1, { ...FIRST, flow: 'hold' });
    return leg(2, { ...FIRST, flow: 'attach', kvTransferParams: held, keepsKv: true });
  }

  /** Prompt tokens of prefill: computed, cached, transferred. */
  function tokensBySource(): number[] {
    const { counters } = prefill.presence();
    const sources = ['local_compute', 'local_cache_hit', 'external_kv_transfer'] as const;
    return sources.map((source) => counters[`prompt_tokens_${source}`] ?? 0);
  }

  it('are listed in the answer with their expiry, for prompt and output', async () => {
    await start();
    const kept = await firstTurn();
    expect(kept).toMatchObject({
      do_remote_prefill: false,
      do_remote_decode: true,
      remote_engine_id: decode.engineId,
      remote_request_id: 'request-2-0-00000001',
      remote_num_tokens: 61,
    });
    expect(kept.remote_block_ids?.[0]).toHaveLength(4);
    const leftUs = (kept.remote_blocks_expiry_time ?? 0) * 1e6 - world.wall.nowUs();
    expect(Math.round(leftUs / 1e6)).toBe(480);
    expect(decode.presence().gauges.heldBlocks).toBe(4);
  });

  it('are read by the next prefill leg, which computes only the new tokens', async () => {
    await start();
    const kept = await firstTurn();
    prefill.engine.resetPrefixCache(true);
    const before = tokensBySource();
    const held = await leg(3, { ...SECOND, flow: 'hold', kvTransferParams: kept });
    const after = tokensBySource();
    expect(after.map((tokens, i) => tokens - (before[i] ?? 0))).toEqual([90 - 48, 0, 48]);
    expect(held).toMatchObject({ do_remote_prefill: true, remote_num_tokens: 90 });
    expect(decode.presence().gauges.heldBlocks).toBe(0);
    expect(decode.presence().counters['kv_released_read_done']).toBe(1);
    await leg(4, { ...SECOND, flow: 'attach', kvTransferParams: held });
    expect(world.tokens(4)).toEqual([0, 1, 2, 3, 4]);
    expect(world.blocksInUse()).toBe(0);
  });

  it('are freed when less is missing than kv_recompute_threshold', async () => {
    await start({ host: { kvRecomputeThreshold: 49 } });
    const kept = await firstTurn();
    prefill.engine.resetPrefixCache(true);
    await leg(3, { ...SECOND, flow: 'hold', kvTransferParams: kept });
    const { counters } = prefill.presence();
    expect([counters['kv_fetch_declined'], counters['kv_fetched'] ?? 0]).toEqual([1, 0]);
    expect(counters['prompt_tokens_external_kv_transfer'] ?? 0).toBe(0);
    expect(decode.presence().gauges.heldBlocks).toBe(0);
  });

  it('are not read and are freed when prefill still has them', async () => {
    await start();
    const kept = await firstTurn();
    const same = { ...SECOND, promptTokens: 40, blockHashes: [11, 12] };
    await leg(3, { ...same, flow: 'hold', kvTransferParams: kept });
    expect(prefill.presence().counters['prompt_tokens_external_kv_transfer'] ?? 0).toBe(0);
    expect(decode.presence().gauges.heldBlocks).toBe(0);
  });

  const spoilt: [string, (kept: KvTransferParams) => KvTransferParams, Partial<EngineJob>][] = [
    [
      'of an engine that is not there',
      (kept) => ({ ...kept, remote_engine_id: UNKNOWN_ENGINE }),
      {},
    ],
    ['of an unknown request', (kept) => ({ ...kept, remote_request_id: 'nobody-00000001' }), {}],
    ['with other block ids', (kept) => ({ ...kept, remote_block_ids: [[1, 2]] }), {}],
    ['with more tokens than there are', (kept) => ({ ...kept, remote_num_tokens: 80 }), {}],
    ['of another conversation', (kept) => kept, { blockHashes: [21, 22, 23, 24, 25] }],
  ];

  it.each(spoilt)('are never used %s: the prompt is computed', async (_what, spoil, job) => {
    await start();
    const kept = await firstTurn();
    prefill.engine.resetPrefixCache(true);
    const kvTransferParams = spoil(kept);
    const held = await leg(3, { ...SECOND, ...job, flow: 'hold', kvTransferParams });
    expect(held).toMatchObject({ remote_num_tokens: 90 });
    expect(prefill.presence().counters['prompt_tokens_external_kv_transfer'] ?? 0).toBe(0);
  });

  it('serve one turn', async () => {
    await start();
    const kept = await firstTurn();
    for (const streamId of [3, 4]) {
      prefill.engine.resetPrefixCache(true);
      await leg(streamId, { ...SECOND, flow: 'hold', kvTransferParams: kept });
      await world.wall.advance(31_000_000);
    }
    expect(prefill.presence().counters['prompt_tokens_external_kv_transfer']).toBe(48);
  });

  it('expire after decoder_kv_blocks_ttl, and the next turn is computed', async () => {
    await start({ host: { kvKeepUs: 40_000_000 } });
    const kept = await firstTurn();
    await world.wall.advance(41_000_000);
    expect(decode.presence().gauges.heldBlocks).toBe(0);
    await leg(3, { ...SECOND, flow: 'hold', kvTransferParams: kept });
    expect(world.ended(3)?.reason).toBe('length');
  });

  it('are refused by strict_kv when no engine has them', async () => {
    await start({ host: { strictKv: true } });
    const kept = { ...(await firstTurn()), remote_request_id: 'nobody-00000001' };
    await leg(3, { ...SECOND, flow: 'hold', kvTransferParams: kept });
    expect(world.ended(3)).toMatchObject({ reason: 'error', tail: '"kv_reference_refused"' });
  });

  it('are not kept for an abandoned leg', async () => {
    await start();
    const held = await leg(1, { ...FIRST, flow: 'hold' });
    await world.submit(2, { ...FIRST, flow: 'attach', kvTransferParams: held, keepsKv: true });
    await world.wall.advance(50_000);
    await world.abort('request-2-0');
    await world.wall.advance(1_000_000);
    expect(world.ended(2)?.reason).toBe('abort');
    expect(world.blocksInUse()).toBe(0);
  });
});
