import { setTimeout as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TurnShare } from './turn-share';
import { spendWork, withinWork } from './work-meter';

describe('the share of a turn of the event loop', () => {
  it('runs pieces at once until it is used up, and the others in order in later ones', async () => {
    const share = new TurnShare(100, setTimeout);
    const begun: number[] = [];
    const pieces = Array.from({ length: 7 }, (_, i) =>
      share.take(() => {
        begun.push(i);
        spendWork(40);
      }),
    );
    expect(begun).toEqual([0, 1, 2]);
    await turn(0);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    await Promise.all(pieces);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('lets pieces without work pass one after the other', async () => {
    const share = new TurnShare(1, setTimeout);
    const first = share.take(() => spendWork(1));
    const begun: string[] = [];
    const others = ['a', 'b', 'c'].map((name) => share.take(() => begun.push(name)));
    expect(begun).toEqual([]);
    await Promise.all([first, ...others]);
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('counts a piece that fails, and continues with the next', async () => {
    const share = new TurnShare(1, setTimeout);
    const failed = share.take(() => withinWork(1, () => spendWork(2)));
    const next = share.take(() => 'next');
    await expect(failed).rejects.toThrow('exceeds');
    expect(await next).toBe('next');
  });
});
