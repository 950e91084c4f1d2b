import type { KvPoolMessage } from '@baton/contract';
import type { KvPoolTerms } from '@baton/kvcache';
import type { BatchAggregates } from '@baton/step-time';
import { channels } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { World } from '../../test/test-world';
import { engineQueue } from '../routing/job-routing';
import type { EngineHost } from './engine-host';

const KV_POOL: KvPoolTerms = {
  blocks: 8,
  bytesPerBlock: 1_000,
  bytesPerSecond: 1e9,
  latencyUs: 1_000,
  balancingThreshold: 1,
  replicas: 0,
};
const hostTier = { blocks: 8, bytesPerBlock: 1_000, bytesPerSecond: 1e9 };
/** A token of prompt takes 1 ms. */
const stepTime = {
  description: 'a prompt takes its length',
  stepUs: (b: BatchAggregates) => 1_000 + 1_000 * b.prefillTokens + b.decodeSeqs,
};
/** Two full blocks of 16 tokens, and 8 tokens more. */
const SAME = { flow: 'local', promptTokens: 40, blockHashes: [71, 72], outputTokens: 1 } as const;

let world: World;

beforeEach(async () => {
  world = await World.open();
});

afterEach(async () => {
  await world.close();
});

function join(): Promise<EngineHost> {
  return world.host('aggregated', { engine: { hostTier, stepTime }, host: { kvPool: KV_POOL } });
}

async function run(streamId: number, host: EngineHost): Promise<void> {
  const job = world.job(streamId, { ...SAME, maxTokens: 1 });
  await world.api.jobs.add(engineQueue(host.engineId), [job]);
  await settle();
  expect(await world.untilEnded(streamId)).toBe(true);
}

function counters(host: EngineHost): Record<string, number> {
  return host.presence().counters;
}

describe('engines of a KV pool', () => {
  it('fetch blocks that another engine has computed', async () => {
    const [first, second] = [await join(), await join()];
    await run(1, first);
    await run(2, second);
    expect(counters(first)).toMatchObject({ kv_pool_blocks_stored: 2, kv_pool_prompt_tokens: 0 });
    expect(counters(second)).toMatchObject({
      kv_pool_prompt_tokens: 32,
      kv_pool_fetched_bytes: 2_000,
      kv_pool_fetch_seconds: 0.001_002,
      prompt_tokens_local_cache_hit: 32,
      kv_pool_blocks_evicted: 0,
    });
  });

  it('learn the content of the others when they join', async () => {
    const first = await join();
    await run(1, first);
    const second = await join();
    // Its question, and the answer.
    await world.wall.advance(10_000);
    await run(2, second);
    expect(counters(second)).toMatchObject({ kv_pool_prompt_tokens: 32 });
  });

  it('fetch nothing from a killed engine once it has been silent for its time', async () => {
    const [first, second] = [await join(), await join()];
    await run(1, first);
    await world.kill(first);
    await world.wall.advance(5_000_000);
    await run(2, second);
    expect(counters(second)).toMatchObject({ kv_pool_prompt_tokens: 0 });
  });

  it('fetch nothing from an engine that has left', async () => {
    const [first, second] = [await join(), await join()];
    await run(1, first);
    const left = world.stop(first, 1_000);
    await world.wall.advance(10_000);
    await left;
    await run(2, second);
    expect(counters(second)).toMatchObject({ kv_pool_prompt_tokens: 0 });
  });

  it('ask an engine whose message they missed for its whole content', async () => {
    const [first, second] = [await join(), await join()];
    await settle();
    const asked: KvPoolMessage[] = [];
    await world.api.bus.subscribe(channels.kvPool, (payload) => {
      const message = JSON.parse(payload.toString()) as KvPoolMessage;
      if (message.kind === 'ask' && message.of !== undefined) asked.push(message);
    });
    await run(1, first);
    const late: KvPoolMessage = { kind: 'news', from: first.engineId, number: 99, blocks: [] };
    world.api.bus.publish(channels.kvPool, Buffer.from(JSON.stringify(late)));
    await settle();
    expect(asked).toEqual([{ kind: 'ask', of: first.engineId }]);
    await run(2, second);
    expect(counters(second)).toMatchObject({ kv_pool_prompt_tokens: 32 });
  });

  it('drop their memory with the prefix cache, in all copies', async () => {
    const [first, second] = [await join(), await join()];
    await run(1, first);
    expect(first.engine.resetPrefixCache(true)).toBe(true);
    await settle();
    await run(2, second);
    expect(counters(second)).toMatchObject({ kv_pool_prompt_tokens: 0 });
    expect(counters(first)).toMatchObject({ kv_pool_blocks_evicted: 2 });
  });
});
