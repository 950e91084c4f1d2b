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
