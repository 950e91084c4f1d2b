import type { HandoffEntry } from '@baton/handoff';
import { describe, expect, it } from 'vitest';
import { LEAD_US, PROMPT_US, TOKEN_US, TRANSFER_US, World } from '../../test/test-world';

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

describe('the results of a step', () => {
  const leadsOf = (world: World): number[] =>
    world.of(1).flatMap(({ kind, stepEndUs, atUs }) => (kind === 'tokens' ? stepEndUs - atUs : []));

  it.each([
    ['by the lead', 1, LEAD_US],
    ['by half of a step that is shorter than two leads', 4, TOKEN_US / 4 / 2],
    ['at the end of a step of two milliseconds', 5, 0],
  ])('are sent early %s, and stamped with its end', async (_how, speedup, leadUs) => {
    const world = await World.open();
    await world.host('aggregated', { speedup });
    const { causeUs } = await world.submit(1, { flow: 'local', outputTokens: 6 });
    expect(await world.untilEnded(1)).toBe(true);
    const stamps = world.of(1).flatMap((r) => (r.kind === 'tokens' ? r.stepEndUs - causeUs : []));
    expect(stamps).toEqual([0, 1, 2, 3, 4].map((i) => (PROMPT_US + i * TOKEN_US) / speedup));
    // The batch behind a long prompt is formed when its short step is already due.
    expect(leadsOf(world).slice(2)).toEqual([leadUs, leadUs, leadUs]);
    await world.close();
  });

  it('are sent at the end without a lead', async () => {
    const world = await World.open();
    await world.host('aggregated', { host: { resultLeadUs: 0 } });
    await world.submit(1, { flow: 'local' });
    expect(await world.untilEnded(1)).toBe(true);
    expect(leadsOf(world)).toEqual([0, 0, 0, 0]);
    await world.close();
  });

  it('come before the end of an abort that follows them', async () => {
    const world = await World.open();
    await world.host('aggregated');
    const { requestId } = await world.submit(1, { flow: 'local', outputTokens: 100 });
    await world.wall.advanceUntil(() => world.tokens(1).length === 4, 1_000_000);
    await world.abort(requestId);
    const [last, end] = world.of(1).slice(-2);
    expect([last?.kind, end?.kind]).toEqual(['tokens', 'end']);
    expect(last?.atUs).toBeLessThan(last!.stepEndUs);
    expect(end?.stepEndUs).toBe(last?.stepEndUs);
    await world.close();
  });
});

describe('a job that comes before its cause', () => {
  it.each([
    [3_000, 3_000],
    [1_000_000, LEAD_US],
  ])('%i µs ahead starts after %i µs', async (aheadUs, startsUs) => {
    const world = await World.open();
    const startUs = world.wall.nowUs();
    await world.host('aggregated');
    await world.submit(1, { flow: 'local', causeUs: startUs + aheadUs });
    expect(await world.untilEnded(1)).toBe(true);
    const [first] = world.of(1).filter(({ kind }) => kind === 'tokens');
    expect(first?.stepEndUs).toBe(startUs + startsUs + PROMPT_US);
    await world.close();
  });
});
