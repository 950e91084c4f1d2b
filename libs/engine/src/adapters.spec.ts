import { RandomStream } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { TestEngine } from '../test/test-engine';

describe('LoRA adapters in a batch', () => {
  it(
    'are limited to max_loras: a sequence with a further one is passed over, those behind it are ' +
      'not',
    () => {
      const test = new TestEngine({ maxAdapters: 1 });
      test.submit('a1', { adapter: 1, outputTokens: 3 });
      test.submit('b', { adapter: 2, outputTokens: 1 });
      test.submit('a2', { adapter: 1, outputTokens: 3 });
      test.submit('plain', { outputTokens: 3 });
      expect(test.step()?.scheduled).toEqual(['a1', 'a2', 'plain']);
      expect(test.engine.snapshot()).toMatchObject({ running: 3, waiting: 0, deferred: 1 });
      const finished = test.runToRest().flatMap((told) => told.finished);
      expect(finished.at(-1)).toBe('b');
    },
  );

  it('keep their places: a sequence that was passed over is first when there is room for it', () => {
    const test = new TestEngine({ maxAdapters: 1, maxNumSeqs: 2 });
    test.submit('a', { adapter: 1, outputTokens: 2 });
    test.submit('b', { adapter: 2, outputTokens: 2 });
    test.submit('c', { adapter: 3, outputTokens: 2 });
    const order = test.runToRest().flatMap((told) => told.scheduled);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('also limit sequences whose KV came from elsewhere', () => {
    const test = new TestEngine({ maxAdapters: 1 });
    test.submit('a', { adapter: 1 });
    test.submit('b', { adapter: 2, mode: 'remote-prefill' });
    expect(test.step()?.scheduled).toEqual(['a']);
    expect(test.reserve()).toBeUndefined();
    expect(test.runToRest().flatMap((told) => told.finished)).toEqual(['a']);
    expect(test.reserve()).toBe('b lacks 8');
    test.engine.kvArrived(test.handle('b'));
    expect(test.runToRest().flatMap((told) => told.finished)).toEqual(['b']);
  });

  it('are taken by a sequence until the step under way has brought its last token', () => {
    const admittedIn = (options: object): number => {
      const test = new TestEngine({ asyncScheduling: true, maxNumSeqs: 2, ...options });
      test.submit('a', { adapter: 1, outputTokens: 2, endReason: 'length' });
      test.submit('b', { adapter: 2, outputTokens: 2, endReason: 'length' });
      return test.runToRest().findIndex(({ scheduled }) => scheduled.includes('b'));
    };
    const alone = admittedIn({ maxNumSeqs: 1 });
    expect([admittedIn({}), admittedIn({ maxAdapters: 1 })]).toEqual([0, alone]);
  });

  it('are not limited when no limit is set', () => {
    const test = new TestEngine();
    for (const adapter of [1, 2, 3]) test.submit(`a${adapter}`, { adapter });
    expect(test.step()?.scheduled).toEqual(['a1', 'a2', 'a3']);
  });

  it.each([1, 2, 3, 4, 5])('never mix more than max_loras, and all end (seed %i)', (seed) => {
    const random = RandomStream.root(seed).stream('adapters');
    const maxAdapters = 1 + random.integer(3);
    const test = new TestEngine({ maxAdapters, maxNumSeqs: 6, numBlocks: 30 });
    const adapterOf = new Map<string, number>();
    const told = Array.from({ length: 200 }, (_, turn) => {
      const name = `s${turn}`;
      adapterOf.set(name, random.integer(6));
      test.submit(name, {
        adapter: adapterOf.get(name) ?? 0,
        promptTokens: 1 + random.integer(30),
        outputTokens: 1 + random.integer(20),
      });
      return test.step();
    });
    const all = [...told, ...test.runToRest()].flatMap((step) => step ?? []);
    for (const { emitted } of all) {
      const mixed = new Set(emitted.map((name) => adapterOf.get(name)).filter(Boolean));
      expect(mixed.size).toBeLessThanOrEqual(maxAdapters);
    }
    expect(all.flatMap(({ finished }) => finished)).toHaveLength(200);
  });
});
