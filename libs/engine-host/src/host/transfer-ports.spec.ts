import type { EngineMessage } from '@baton/contract';
import { channels } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROMPT_US, TOKEN_US, World } from '../../test/test-world';
import { UNLIMITED } from '../prefill/source-side';
import type { HostedEngineFacts } from '../run/options';

/** Facts of an engine with a port for each rank; each rank stores this many bytes of a token. */
function factsOf([ports, kvBytesPerToken]: readonly [number, number]): HostedEngineFacts {
  return {
    model: 'm',
    maxNumSeqs: 8,
    maxNumBatchedTokens: 512,
    blockSize: 16,
    numBlocks: 64,
    tensorParallelSize: ports,
    kvBytesPerToken,
    link: { bytesPerSecond: 40_000, baseLatencyUs: 0, ports },
  };
}

describe('a transfer between engines of different tensor-parallel sizes', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  it.each([
    ['1 rank to 4 shares the port of the source', { from: [1, 4], to: [4, 1] }, 4_800],
    ['4 ranks to 1 takes the port of the target', { from: [4, 1], to: [1, 4] }, 4_800],
    ['4 ranks to 4 has four ports', { from: [4, 1], to: [4, 1] }, 1_200],
    ['1 rank to 4 reads a latent vector four times', { from: [1, 4], to: [4, 4] }, 19_200],
  ] as const)('from %s', async (_, { from, to }, transferUs) => {
    await world.host('prefill', { host: { facts: factsOf(from) } });
    await world.host('decode', { host: { facts: factsOf(to) } });
    const startUs = world.wall.nowUs();
    await world.submit(1);
    await world.untilEnded(1);
    const first = world.of(1).find(({ kind }) => kind === 'tokens');
    // 3 blocks of 16 tokens of one byte take 1.2 ms through one port.
    expect(first!.stepEndUs - startUs).toBe(PROMPT_US + transferUs + TOKEN_US);
  });
});

describe('two transfers from one engine to two', () => {
  it.each([
    ['share a link', 1_000, [2, 1]],
    ['of a link without a limit need no shares', UNLIMITED, []],
  ])('%s', async (_how, bytesPerSecond, shares) => {
    const world = await World.open();
    const facts = factsOf([1, 1]);
    const link = { ...facts.link, bytesPerSecond };
    await world.host('prefill', { host: { facts: { ...facts, link } } });
    const sent: number[] = [];
    for (let reader = 0; reader < 2; reader += 1) {
      const decode = await world.host('decode', {
        host: { facts: { ...facts, link, maxNumSeqs: 1 } },
        engine: { maxNumSeqs: 1 },
      });
      await world.api.bus.subscribe(channels.engine(decode.presence().engineId), (mail) => {
        for (const message of JSON.parse(mail.toString()) as EngineMessage[]) {
          if (message.kind === 'read-share') sent.push(message.activeReads);
        }
      });
    }
    await world.submit(1);
    await world.submit(2);
    expect(await world.untilEnded(1, 2)).toBe(true);
    expect(sent).toEqual(shares);
    await world.close();
  });
});
