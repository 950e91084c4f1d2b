import { defaultConfig } from '@baton/config';
import type { KvTransferParams } from '@baton/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KvRelease } from './kv-release';
import { LegPairs } from './leg-pairs';

const HELD = {
  do_remote_prefill: true,
  do_remote_decode: false,
  remote_block_ids: [[1, 2]],
  remote_engine_id: 'prefill-0',
  remote_request_id: 'cmpl-x-0-00000001',
  remote_host: 'localhost',
  remote_port: 5600,
};

describe('the two legs of a transfer', () => {
  let givenUp: unknown[];
  let pairs: LegPairs;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    givenUp = [];
    const refused = (params: KvTransferParams): void => {
      givenUp.push(params.remote_request_id);
    };
    const config = defaultConfig({ topology: '1P1D', kvLegTimeout: 10, maxWaitingRequests: 2 });
    pairs = new LegPairs(config, { refused } as unknown as KvRelease);
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const staying = new AbortController().signal;

  it('wait without limit for a prompt in computation', async () => {
    pairs.prefillCame(['a']);
    const met = pairs.meet('a', staying);
    vi.advanceTimersByTime(100_000_000);
    pairs.prefillEnded(['a'], HELD);
    expect(await met).toMatchObject({ kind: 'held', params: { remote_engine_id: 'prefill-0' } });
  });

  it('wait kv_leg_timeout for a missing prefill leg', async () => {
    let met: unknown;
    void pairs.meet('a', staying).then((told) => (met = told));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(met).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(met).toEqual({ kind: 'absent' });
  });

  it('end together when prefill does', async () => {
    const met = pairs.meet('a', staying);
    pairs.prefillCame(['a']);
    pairs.prefillEnded(['a'], undefined);
    expect(await met).toEqual({ kind: 'failed' });
  });

  it('are exactly two', async () => {
    const first = pairs.meet('a', staying);
    expect(await pairs.meet('a', staying)).toEqual({ kind: 'taken' });
    pairs.prefillCame(['a']);
    pairs.prefillEnded(['a'], HELD);
    expect((await first).kind).toBe('held');
    expect(await pairs.meet('a', staying)).toEqual({ kind: 'taken' });
    expect(givenUp).toEqual([]);
  });

  it('free the blocks when decode has left, whichever leg was first', async () => {
    const leaving = new AbortController();
    const met = pairs.meet('a', leaving.signal);
    leaving.abort();
    expect(await met).toEqual({ kind: 'absent' });
    pairs.prefillCame(['a']);
    pairs.prefillEnded(['a'], HELD);
    pairs.prefillCame(['b']);
    pairs.prefillEnded(['b'], HELD);
    pairs.decodeRefused('b');
    expect(givenUp).toEqual(['cmpl-x-0-00000001', 'cmpl-x-0-00000001']);
  });

  it('stay taken when the decode leg leaves after it has met its prompt', async () => {
    const leaving = new AbortController();
    pairs.prefillCame(['a']);
    pairs.prefillEnded(['a'], HELD);
    expect((await pairs.meet('a', leaving.signal)).kind).toBe('held');
    leaving.abort();
    expect(givenUp).toEqual([]);
  });

  it('are dropped with the lease of the blocks', async () => {
    pairs.prefillCame(['a']);
    pairs.prefillEnded(['a'], HELD);
    await vi.advanceTimersByTimeAsync(30_000);
    let met: unknown;
    void pairs.meet('a', staying).then((told) => (met = told));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(met).toEqual({ kind: 'absent' });
  });

  it('wait only up to a limit', async () => {
    void pairs.meet('a', staying);
    void pairs.meet('b', staying);
    await expect(pairs.meet('c', staying)).rejects.toMatchObject({ code: 'queue_full' });
  });

  it('start again under the same name', async () => {
    for (const _turn of [1, 2]) {
      pairs.prefillCame(['a']);
      pairs.prefillEnded(['a'], HELD);
      expect((await pairs.meet('a', staying)).kind).toBe('held');
    }
  });
});
