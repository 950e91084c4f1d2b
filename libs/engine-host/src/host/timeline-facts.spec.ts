import type { EngineFact, EngineFacts } from '@baton/contract';
import { channels } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import { PROMPT_US, TRANSFER_US, World } from '../../test/test-world';

interface Told {
  readonly requestId: string;
  readonly stage: string;
  readonly fact: EngineFact;
}

/**
 * A prompt of several chunks: the engines of the test world have a budget of 512 tokens per step.
 */
const LONG = { promptTokens: 900, blockHashes: [] };

class Listener {
  readonly messages: EngineFacts[] = [];

  static async of(world: World): Promise<Listener> {
    const listener = new Listener();
    await world.api.bus.subscribe(channels.timelines('api-test'), (payload) => {
      listener.messages.push(JSON.parse(payload.toString()) as EngineFacts);
    });
    return listener;
  }

  get told(): Told[] {
    return this.messages.flatMap(({ stage, runs }) =>
      runs.flatMap(({ requestId, facts }) => facts.map((fact) => ({ requestId, stage, fact }))),
    );
  }

  kinds(stage: string): string[] {
    return this.told.filter((each) => each.stage === stage).map(({ fact }) => fact[0]);
  }
}

async function handoff(world: World): Promise<Listener> {
  const listener = await Listener.of(world);
  await world.host('prefill');
  await world.host('decode');
  await world.submit(0, LONG);
  await world.untilEnded(0);
  await world.wall.advance(1_000_000);
  return listener;
}

describe('facts of a request from its engines', () => {
  it('include the chunks of its prompt, the reservation, the transfer and the release', async () => {
    const world = await World.open();
    const listener = await handoff(world);
    expect(listener.kinds('prefill')).toEqual(['taken', 'chunk', 'chunk', 'released']);
    expect(listener.kinds('decode')).toEqual(['taken', 'reserved', 'transfer']);
    const chunks = listener.told.filter(({ fact }) => fact[0] === 'chunk');
    expect(chunks.map(({ fact }) => fact[3])).toEqual([512, 388]);
    for (const { fact } of chunks) expect(fact[2] - fact[1]).toBe(PROMPT_US);
    expect(chunks[1]!.fact[1]).toBe(chunks[0]!.fact[2]);
    const transfer = listener.told.find(({ fact }) => fact[0] === 'transfer')!.fact;
    expect(transfer[2] - transfer[1]).toBe(TRANSFER_US);
    expect(transfer[3]).toBe(900);
    await world.close();
  });

  it('travel in few messages, however many requests and tokens there are', async () => {
    const world = await World.open();
    const listener = await Listener.of(world);
    await world.host('aggregated');
    const rows = Array.from({ length: 8 }, (_none, row) => row);
    for (const row of rows) {
      await world.submit(row, { flow: 'local', outputTokens: 60, maxTokens: 60 });
    }
    await world.untilEnded(...rows);
    await world.wall.advance(1_000_000);
    expect(listener.told.filter(({ fact }) => fact[0] === 'chunk').length).toBe(8);
    expect(listener.told.length).toBe(16);
    expect(listener.messages.length).toBeLessThanOrEqual(3);
    await world.close();
  });

  it('include the loss of its blocks', async () => {
    const world = await World.open();
    const listener = await Listener.of(world);
    await world.host('aggregated', { engine: { numBlocks: 10 } });
    const job = { flow: 'local', promptTokens: 32, outputTokens: 80, maxTokens: 80 } as const;
    for (const row of [0, 1, 2]) await world.submit(row, { ...job, blockHashes: [] });
    await world.untilEnded(0, 1, 2);
    await world.wall.advance(1_000_000);
    expect(listener.kinds('aggregated')).toContain('preempted');
    await world.close();
  });

  it('are not sent without a reader', async () => {
    const world = await World.open();
    const listener = await Listener.of(world);
    await world.host('aggregated', { host: { publishesTimelines: false } });
    await world.submit(0, { flow: 'local' });
    await world.untilEnded(0);
    await world.wall.advance(1_000_000);
    expect(listener.messages).toEqual([]);
    await world.close();
  });
});
