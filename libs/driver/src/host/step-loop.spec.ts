import type { HandoffEntry } from '@baton/handoff';
import { describe, expect, it } from 'vitest';
import { PROMPT_US, TRANSFER_US, World } from '../../test/test-world';

describe('an idle engine with waiting sequences', () => {
  it('INV-6: continues from the instant that frees the blocks, not from when it became idle', async () => {
    const world = await World.open();
    const entries: HandoffEntry[] = [];
    const host = { onHandoff: (entry: HandoffEntry): void => void entries.push(entry) };
    await world.host('prefill', { host, engine: { numBlocks: 5 } });
    await world.host('decode');
    await world.submit(1, { promptTokens: 64, blockHashes: [] });
    // Too large to fit beside the first, whose blocks are held until decode has read them.
    await world.submit(2, { promptTokens: 64, blockHashes: [] });
    expect(await world.untilEnded(1, 2)).toBe(true);
    const heldUs = entries
      .filter(({ fact }) => fact.kind === 'prompt-held')
      .map((e) => e.fact.nowUs);
    const readUs = PROMPT_US + TRANSFER_US;
    expect(heldUs[0]).toBe(PROMPT_US);
    expect(heldUs[1]).toBeGreaterThanOrEqual(readUs + PROMPT_US);
    expect(heldUs[1]).toBeLessThanOrEqual(readUs + PROMPT_US + 10);
    await world.close();
  });
});

describe('a batch', () => {
  it.each([
    ['before the beginning of its step', -500, 40_000],
    ['behind it', 500, 50_000],
  ])('that is formed 5 ms late has what happened %s: %i µs', async (_when, sinceUs, stepUs) => {
    const world = await World.open();
    const startUs = world.wall.nowUs();
    await world.host('aggregated');
    await world.submit(1, { flow: 'local', outputTokens: 20 });
    // A prompt of 20 ms and two tokens of 10 ms: the next step is due at 40 ms.
    await world.wall.advance(44_000);
    await world.submit(2, { flow: 'local', causeUs: startUs + 40_000 + sinceUs });
    expect(await world.untilEnded(1, 2)).toBe(true);
    const [first] = world.of(2).filter(({ kind }) => kind === 'tokens');
    expect(first?.stepEndUs).toBe(startUs + stepUs + PROMPT_US);
    await world.close();
  });
});
