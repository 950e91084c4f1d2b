import { describe, expect, it } from 'vitest';
import { FairShare } from './fair-share';

const STEADY = 'steady';

interface Turn {
  readonly promptTokens: number;
  readonly outputTokens?: number;
}

/**
 * A steady tenant that always waits beside new names, each with one request. Returns the names in
 * the order in which they were served, and the largest number of remembered flows.
 */
function serve(turns: number, newNames: number, { promptTokens, outputTokens = 0 }: Turn) {
  const shares = new FairShare();
  const waiting = [STEADY];
  const served: string[] = [];
  let most = 0;
  for (let turn = 0; turn < turns; turn++) {
    while (waiting.length <= newNames) waiting.push(`new ${turn} ${waiting.length}`);
    shares.look(waiting.map((key) => ({ key, weight: 1 })));
    const [next] = [...waiting].sort((a, b) => shares.startOf(a) - shares.startOf(b));
    waiting.splice(waiting.indexOf(next!), 1);
    if (next === STEADY) waiting.push(STEADY);
    shares.served(next!, { promptTokens, outputTokens: 0 });
    shares.served(next!, { promptTokens: 0, outputTokens });
    served.push(next!);
    most = Math.max(most, shares.size);
  }
  return { served, most };
}

describe('fair shares', () => {
  it.each([
    [1, { promptTokens: 10 }],
    [1, { promptTokens: 10, outputTokens: 200 }],
    [4, { promptTokens: 10 }],
    [9, { promptTokens: 500, outputTokens: 20 }],
  ])('serve a steady tenant once while %d new names at any time are replaced twice', (at, turn) => {
    const { served } = serve(3_000, at, turn);
    const turns = served.flatMap((name, i) => (name === STEADY ? [i] : []));
    const gaps = turns.slice(1).map((i, k) => i - turns[k]!);
    expect(turns.length).toBeGreaterThan(100);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * at + 1);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(at + 1);
  });

  it('remember a bounded number of names', () => {
    expect(serve(20_000, 3, { promptTokens: 10 }).most).toBeLessThan(2_000);
  });

  it('remember a bounded number of names that never wait again', () => {
    const shares = new FairShare();
    for (let i = 0; i < 20_000; i++) {
      shares.look([{ key: `new ${i}`, weight: 1 }]);
      shares.served(`new ${i}`, { promptTokens: 10, outputTokens: 0 });
      expect(shares.size).toBeLessThan(2_000);
    }
  });

  it('give a flow that returns no credit for its pause', () => {
    const shares = new FairShare();
    const both = ['a', 'b'].map((key) => ({ key, weight: 1 }));
    shares.look(both);
    shares.served('b', { promptTokens: 10, outputTokens: 0 });
    for (let i = 0; i < 50; i++) {
      shares.look([both[0]!]);
      shares.served('a', { promptTokens: 10, outputTokens: 0 });
    }
    shares.look(both);
    expect(shares.startOf('b')).toBe(490);
    expect(shares.startOf('a')).toBe(500);
  });
});
