import type { EngineJob } from '@baton/contract';
import type { Engine } from '@baton/engine';
import { chainBlockHashes, RandomStream } from '@baton/kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { settle } from '../../../clock/test/manual-wall-clock';
import { World } from '../../test/test-world';
import { type KvEvent, type KvEventPublisher } from '../run/observers/kv-event';
import { endpointOf } from '../run/observers/load-publisher';
import type { EngineHost } from './engine-host';

const BLOCK = 16;

/** A listening router's view of the cache: hash → tokens. */
class Listener implements KvEventPublisher {
  readonly batches: (readonly KvEvent[])[] = [];
  readonly blocks = new Map<number, readonly number[]>();
  readonly parents = new Map<number, number | null>();
  isOpen = false;

  open(): Promise<void> {
    this.isOpen = true;
    return Promise.resolve();
  }

  publish(events: readonly KvEvent[]): void {
    this.batches.push(events);
    for (const event of events) this.take(event);
  }

  close(): Promise<void> {
    this.isOpen = false;
    return Promise.resolve();
  }

  private take(event: KvEvent): void {
    if (event.kind === 'cleared') this.blocks.clear();
    else if (event.kind === 'removed') {
      for (const hash of event.hashes) expect(this.blocks.delete(hash)).toBe(true);
    } else {
      expect(event.tokens.length).toBe(event.hashes.length * BLOCK);
      for (const [i, hash] of event.hashes.entries()) {
        expect(this.blocks.has(hash)).toBe(false);
        this.blocks.set(hash, event.tokens.slice(i * BLOCK, (i + 1) * BLOCK));
        this.parents.set(hash, i === 0 ? event.parent : (event.hashes[i - 1] ?? null));
      }
    }
  }
}

describe('KV-cache events', () => {
  let world: World;

  afterEach(() => world.close());

  async function start(
    role: 'prefill' | 'decode' | 'aggregated',
    numBlocks = 64,
  ): Promise<{ host: EngineHost; listener: Listener }> {
    const listener = new Listener();
    const host = await world.host(role, {
      engine: { numBlocks, enablePrefixCaching: true, blockSize: BLOCK },
      host: { kvEvents: () => listener },
    });
    expect(listener.isOpen).toBe(true);
    return { host, listener };
  }

  /**
   * Job contents as the API makes them: tokens of prompt and output, and the hashes of their full
   * blocks.
   */
  function content(prompt: readonly number[], outputTokens: number): Partial<EngineJob> {
    const output = Array.from({ length: outputTokens }, (_none, i) => 50_000 + i + prompt.length);
    const tokenIds = [...prompt, ...output];
    const blockHashes = chainBlockHashes(Int32Array.from(tokenIds), BLOCK, 7);
    return { tokenIds, blockHashes, promptTokens: prompt.length, outputTokens };
  }

  const contents = ({ engine }: EngineHost): readonly number[] =>
    (engine as Engine).cacheState().contents;

  const heard = ({ blocks }: Listener): number[] => [...blocks.keys()].sort((a, b) => a - b);

  it('report the blocks that a prompt and its answer leave in the cache, with their tokens', async () => {
    world = await World.open();
    const { host, listener } = await start('aggregated');
    const prompt = Array.from({ length: 40 }, (_none, i) => i);
    const job = { ...content(prompt, 10), flow: 'local' as const };
    await world.submit(1, job);
    await world.wall.advance(1_000_000);
    expect(heard(listener)).toEqual(contents(host));
    expect(job.blockHashes!.map((hash) => listener.blocks.get(hash))).toEqual([
      prompt.slice(0, 16),
      prompt.slice(16, 32),
      job.tokenIds!.slice(32, 48),
    ]);
    const [first, second, third] = job.blockHashes!;
    expect(listener.parents.get(first!)).toBe(null);
    expect(listener.parents.get(second!)).toBe(first);
    expect(listener.parents.get(third!)).toBe(second);
  });

  it('come from both ends of a hand-over', async () => {
    world = await World.open();
    const prefill = await start('prefill');
    const decode = await start('decode');
    const job = content(
      Array.from({ length: 64 }, (_none, i) => i * 3),
      5,
    );
    await world.submit(1, job);
    await world.wall.advance(2_000_000);
    expect(heard(prefill.listener)).toEqual([...job.blockHashes!].sort((a, b) => a - b));
    expect(heard(decode.listener)).toEqual(heard(prefill.listener));
  });

  it('end with their engine, whose endpoint the next one may take', async () => {
    world = await World.open();
    const { host, listener } = await start('aggregated');
    await world.stop(host, 0);
    expect(listener.isOpen).toBe(false);
  });

  it.each([1, 2, 3])('always add up to the content of the cache (seed %i)', async (seed) => {
    world = await World.open();
    const random = RandomStream.root(seed).stream('prompts');
    const { host, listener } = await start('aggregated', 24);
    for (let i = 0; i < 60; i += 1) {
      const family = random.integer(5);
      const length = 1 + random.integer(150);
      const prompt = Array.from({ length }, (_none, k) => family * 1_000 + k);
      await world.submit(i, { ...content(prompt, 1 + random.integer(30)), flow: 'local' });
      await world.wall.advance(1 + random.integer(200_000));
      if (i % 7 === 0) expect(heard(listener)).toEqual(contents(host));
    }
    await world.wall.advance(10_000_000);
    expect(heard(listener)).toEqual(contents(host));
    const kinds = new Set(listener.batches.flat().map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['removed', 'stored']);
    expect(host.engine.resetPrefixCache(false)).toBe(true);
    await settle();
    expect(listener.batches.at(-1)).toEqual([{ kind: 'cleared' }]);
    expect(heard(listener)).toEqual([]);
  });
});

describe('the endpoint of an engine', () => {
  it('has its own port, as those of vLLM’s ranks do', () => {
    expect(endpointOf('tcp://*:5557', 3)).toBe('tcp://*:5560');
    expect(endpointOf('tcp://127.0.0.1:*', 3)).toBe('tcp://127.0.0.1:*');
  });
});
