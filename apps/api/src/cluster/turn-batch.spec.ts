import { describe, expect, it } from 'vitest';
import { TurnBatch } from './turn-batch';

describe('a turn batch', () => {
  it('sends all items of one turn together and answers each', async () => {
    const sent: (readonly number[])[] = [];
    const batch = new TurnBatch<number>((items) => {
      sent.push(items);
      return Promise.resolve(items.map((item) => item % 2 === 0));
    });
    const answers = await Promise.all([batch.add(1), batch.add(2), batch.add(3)]);
    expect(answers).toEqual([false, true, false]);
    expect(sent).toEqual([[1, 2, 3]]);
    await batch.add(4);
    expect(sent).toHaveLength(2);
  });

  it('fails all items of a turn together', async () => {
    const batch = new TurnBatch<number>(() => Promise.reject(new TypeError('no')));
    const results = await Promise.allSettled([batch.add(1), batch.add(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
