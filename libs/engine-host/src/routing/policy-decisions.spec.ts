import type { PolicyDecision } from '@baton/policies';
import { describe, expect, it } from 'vitest';
import { PolicyDecisionBook } from './policy-decisions';

const DECISION: PolicyDecision = {
  kind: 'placement',
  stage: 'prefill',
  policy: 'random',
  wallMs: 250,
};

describe('PolicyDecisionBook', () => {
  it('counts decisions and sums their time by kind, stage and policy', () => {
    const book = new PolicyDecisionBook();
    book.add(DECISION);
    book.add({ ...DECISION, stage: 'decode' });
    book.add({ ...DECISION, wallMs: 500 });
    const { kind, policy } = DECISION;
    expect(book.counts).toEqual([
      { kind, policy, stage: 'prefill', count: 2, seconds: 0.75 },
      { kind, policy, stage: 'decode', count: 1, seconds: 0.25 },
    ]);
  });
});
