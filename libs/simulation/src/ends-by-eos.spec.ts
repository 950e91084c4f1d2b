import { describe, expect, it } from 'vitest';
import type { Workload } from '@baton/workload';
import { simulate } from './driver';
import { scenarioWith, workloadOf } from '../test/test-scenario';

/** One engine with one slot, for two requests of one instant. */
const ONE_SLOT = { asyncScheduling: true, maxNumSeqs: 1 };
const BOTH = workloadOf([{}, {}]);

function firstTokens(workload: Workload, endsByEos: boolean): number[] {
  const scenario = scenarioWith('1A', workload, { options: ONE_SLOT, endsByEos });
  return [...simulate(scenario).log.firstTokenUs];
}

describe('requests that end by EOS on the virtual clock', () => {
  it('keep their slot for the row of one more step under async scheduling', () => {
    const [, afterLimit = 0] = firstTokens(BOTH, false);
    const [first, afterEos = 0] = firstTokens(BOTH, true);
    expect(first).toBe(firstTokens(BOTH, false)[0]);
    // The useless row attends to 12 tokens, behind 8 of the prompt and 4 of the output.
    expect(afterEos - afterLimit).toBe(1000 + 12);
  });

  it('take no further step when they have as many tokens as their max_tokens', () => {
    const limited = { ...BOTH, maxTokens: Int32Array.of(4, 4) };
    expect(firstTokens(limited, true)).toEqual(firstTokens(BOTH, false));
  });

  it('take no further step when the limit is larger than the output, unless by EOS', () => {
    const limited = { ...BOTH, maxTokens: Int32Array.of(9, 9) };
    expect(firstTokens(limited, true)).toEqual(firstTokens(BOTH, true));
    expect(firstTokens(limited, false)).toEqual(firstTokens(BOTH, false));
  });
});
