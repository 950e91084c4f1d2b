import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROMPT_US, TOKEN_US, TRANSFER_US, World } from './test-world';

describe('engine hosts', () => {
  let world: World;

  beforeEach(async () => {
    world = await World.open();
  });

  afterEach(() => world.close());

  it('take a routed request through prefill, hand-over and decode', async () => {
    await world.host('prefill');
    await world.host('decode');
    await world.submit(1);
    expect(await world.untilEnded(1)).toBe(true);
    expect(world.kinds(1)).toEqual([
      'prefill scheduled',
      'prefill handed-over',
      'decode scheduled',
      ...Array.from({ length: 4 }, () => 'decode tokens'),
      'decode end',
    ]);
    expect(world.tokens(1)).toEqual([0, 1, 2, 3, 4]);
    expect(world.ended(1)).toMatchObject({ reason: 'length', first: 5, count: 1 });
    expect(world.blocksInUse()).toBe(0);
  });

  it('time it by the step model alone, however long delivery took within 20 ms', async () => {
    await world.host('prefill');
    await world.host('decode');
    const { causeUs } = await world.submit(1, { causeUs: world.wall.nowUs() - 7_000 });
    await world.untilEnded(1);
    const ends = world.of(1).filter(({ kind }) => kind === 'tokens' || kind === 'end');
    // The last prompt token is computed again on decode: a prompt step for the first token.
    const firstUs = causeUs + PROMPT_US + TRANSFER_US + PROMPT_US;
    expect(ends.map(({ stepEndUs }) => stepEndUs - causeUs)).toEqual(
      ends.map((_end, i) => firstUs + i * TOKEN_US - causeUs),
    );
  });
});
