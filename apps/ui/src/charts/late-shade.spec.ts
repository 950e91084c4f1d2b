import { describe, expect, it } from 'vitest';
import { lateSpans } from './late-shade';
import { RateHistory } from './rate-history';

const RATES = {
  requestsPerSecond: 1,
  finishedPerSecond: 1,
  refusedPerSecond: 0,
  tokensPerSecond: 3,
  ttftMs: null,
  itlMs: null,
  refusals: [],
};

describe('the shade of a chart', () => {
  it('covers the time before each value with too many late tokens, in one span', () => {
    const history = new RateHistory();
    const shares = [undefined, undefined, 0.3, 0.5, undefined, 0.02];
    for (const [second, share] of shares.entries()) {
      history.add(second * 1_000, share === undefined ? RATES : { ...RATES, lateShare: share });
    }
    const [xs = [], late = []] = history.columns(['late']);
    expect(late).toEqual([null, null, 0.3, 0.5, null, 0.02]);
    expect(lateSpans(xs as number[], late)).toEqual([
      [-4, -2],
      [-1, 0],
    ]);
  });

  it('is empty without late tokens', () => {
    expect(lateSpans([-1, 0], [null, undefined])).toEqual([]);
    expect(lateSpans([], [])).toEqual([]);
  });
});
