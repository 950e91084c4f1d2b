import { describe, expect, it } from 'vitest';
import { LeastRequests, LeastTokens } from './least-loaded';
import { engineView, placementContext } from '../../test/test-context';

const engines = [
  engineView({ engineId: 'a', requests: 3, waitingTokens: 100, kvTokens: 9_000 }),
  engineView({ engineId: 'b', requests: 2, waitingTokens: 300, kvTokens: 500 }),
  engineView({ engineId: 'c', requests: 2, waitingTokens: 100, kvTokens: 900 }),
  engineView({ engineId: 'd', requests: 2, waitingTokens: 100, kvTokens: 900 }),
];

describe('LeastRequests', () => {
  it('takes the first of the engines with the fewest requests', () => {
    expect(new LeastRequests().choose(placementContext({ engines }))).toBe(1);
  });
});

describe('LeastTokens', () => {
  it(
    'on prefill takes the fewest waiting tokens, on a tie the fewest requests, then the ' + 'first',
    () => {
      expect(new LeastTokens().choose(placementContext({ engines }))).toBe(2);
    },
  );

  it.each(['decode', 'aggregated'] as const)(
    'on %s also counts the KV that steps read',
    (stage) => {
      expect(new LeastTokens().choose(placementContext({ engines, stage }))).toBe(1);
    },
  );
});
