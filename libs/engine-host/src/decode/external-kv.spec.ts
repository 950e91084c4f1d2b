import type { KvTransferParams } from '@baton/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World, type WorldOptions } from '../../test/test-world';
import type { EngineHost } from '../host/engine-host';

const UNKNOWN_ENGINE = '00000000-0000-4000-8000-000000000000';

describe('kv_transfer_params of outside routers', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  async function start(options: WorldOptions = {}): Promise<[EngineHost, EngineHost]> {
    return [await world.host('prefill', options), await world.host('decode', options)];
  }

  async function hold(streamId = 1): Promise<KvTransferParams> {
    await world.submit(streamId, { flow: 'hold', blockHashes: [7, 8] });
    await world.untilEnded(streamId);
    return JSON.parse(world.ended(streamId)?.tail ?? '{}') as KvTransferParams;
  }

  async function attach(streamId: number, kvTransferParams: KvTransferParams): Promise<void> {
    await world.submit(streamId, { flow: 'attach', blockHashes: [7, 8], kvTransferParams });
    await world.untilEnded(streamId);
  }

  it('end the prefill leg with one token and the eleven fields, and hold the blocks', async () => {
    const [prefill] = await start();
    const params = await hold();
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 1, count: 1 });
    expect(params).toMatchObject({
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_engine_id: prefill.engineId,
      remote_request_id: 'request-1-0-00000001',
      remote_num_tokens: 40,
      transfer_mode: 'pull',
    });
    expect(Object.keys(params)).toHaveLength(11);
    expect(params.remote_block_ids?.[0]).toHaveLength(3);
    expect(prefill.presence().gauges.heldBlocks).toBe(3);
  });

  it('continue on decode, which frees the blocks of prefill', async () => {
    const [prefill, decode] = await start();
    await attach(2, await hold());
    expect(world.tokens(2)).toEqual([0, 1, 2, 3, 4]);
    expect(prefill.presence().gauges.heldBlocks).toBe(0);
    expect(decode.presence().counters['prompt_tokens_external_kv_transfer']).toBe(40);
    expect(world.blocksInUse()).toBe(0);
  });

  const wrong: [string, (good: KvTransferParams) => KvTransferParams][] = [
    ['an unknown request', (good) => ({ ...good, remote_request_id: 'cmpl-nobody-0-00000001' })],
    ['an unknown engine', (good) => ({ ...good, remote_engine_id: UNKNOWN_ENGINE })],
    ['another generation', (good) => ({ ...good, remote_request_id: 'request-1-0-00000009' })],
    ['blocks out of range', (good) => ({ ...good, remote_block_ids: [[900, 901, 902]] })],
  ];

  it.each(wrong)('fail on %s, without any token', async (_what, spoil) => {
    await start();
    await attach(2, spoil(await hold()));
    expect(world.ended(2)).toMatchObject({ reason: 'error', tail: '"kv_load_failed"' });
    expect(world.tokens(2)).toEqual([]);
  });

  it.each(wrong)('are computed again on %s under recompute', async (_what, spoil) => {
    const [, decode] = await start({ host: { kvLoadFailurePolicy: 'recompute' } });
    await attach(2, spoil(await hold()));
    expect(world.tokens(2)).toEqual([0, 1, 2, 3, 4]);
    expect(decode.presence().counters['nixl_num_failed_transfers']).toBe(1);
    expect(decode.presence().gauges.kvUsage).toBe(0);
  });

  it('are refused for another prompt than the held one', async () => {
    await start();
    const params = await hold();
    await world.submit(2, { flow: 'attach', blockHashes: [7, 9], kvTransferParams: params });
    await world.untilEnded(2);
    expect(world.ended(2)).toMatchObject({ tail: '"kv_load_failed"' });
  });

  it('serve once', async () => {
    await start({ engine: { enablePrefixCaching: false } });
    const params = await hold();
    await attach(2, params);
    await attach(3, params);
    expect(world.ended(2)?.reason).toBe('length');
    expect(world.ended(3)).toMatchObject({ tail: '"kv_load_failed"' });
    expect(world.blocksInUse()).toBe(0);
  });

  it('expire with their lease, and prefill counts it', async () => {
    const [prefill] = await start({ host: { kvLeaseUs: 2_000_000 } });
    const params = await hold();
    await world.wall.advance(2_100_000);
    expect(prefill.presence().gauges.heldBlocks).toBe(0);
    expect(prefill.presence().counters['nixl_num_kv_expired_reqs']).toBe(1);
    await attach(2, params);
    expect(world.ended(2)).toMatchObject({ tail: '"kv_load_failed"' });
  });

  it.each([
    ['done', 1],
    ['abandoned', 0],
  ])('whose read is %s after they have expired are counted by prefill: %i', async (outcome, n) => {
    const [prefill] = await start({ host: { kvLeaseUs: 2_000_000 } });
    await hold();
    await world.wall.advance(2_100_000);
    const read = { requestId: 'request-1', generation: 1, readerRequestId: 'reader' };
    await world.tell(prefill, { kind: 'read-end', from: UNKNOWN_ENGINE, ...read, outcome });
    const counted = prefill.presence().counters['nixl_num_notifications_after_expiry'];
    expect(counted).toBe(n);
  });

  it('follow the same policy for an injected fault, routed or not', async () => {
    const host = { faults: { crashAfter: undefined, failReads: 1, seed: 1 } };
    await start({ host });
    await world.submit(1);
    await world.untilEnded(1);
    expect(world.ended(1)).toMatchObject({ reason: 'error', tail: '"kv_load_failed"' });
  });

  it('are served without a transfer when they are malformed', async () => {
    await start();
    const malformed = { do_remote_prefill: true } as KvTransferParams;
    await attach(2, malformed);
    expect(world.tokens(2)).toEqual([0, 1, 2, 3, 4]);
  });
});
