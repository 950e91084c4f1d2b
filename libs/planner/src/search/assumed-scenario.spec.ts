import type { EnginePool } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { AS_CONFIGURED, type Assumption, concerns } from '../candidates/assumption';
import { type Candidate } from '../candidates/candidates';
import { WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { assumptionsOf, scenarioUnder } from './assumed-scenario';

const workload = new WorkloadBuilder({ contentBlockTokens: 16 }).build();
const SPLIT: Candidate = {
  topology: { prefill: 1, decode: 2, aggregated: 0 },
  prefillTp: 2,
  decodeTp: 1,
  gpus: 4,
};
const AGGREGATED: Candidate = {
  topology: { prefill: 0, decode: 0, aggregated: 2 },
  prefillTp: 2,
  decodeTp: 2,
  gpus: 4,
};
const CONFIG = defaultConfig({ prefillMaxNumSeqs: 8 });
const DECODES = { decodeSeqs: 8, decodeContext: 8_000, kvUsage: 0 };
const PROMPT = { prefillTokens: 100, prefillSeqs: 1, prefillQuadratic: 1e4, prefillContext: 0 };
const NO_PROMPT = { prefillTokens: 0, prefillSeqs: 0, prefillQuadratic: 0, prefillContext: 0 };

function pools(assumption: Assumption, split = SPLIT, config = CONFIG): readonly EnginePool[] {
  return scenarioUnder(assumption, split, { config, workload }).pools;
}

function named(name: string, config: BatonConfig = CONFIG): Assumption {
  return assumptionsOf(config).find((each) => each.name === name)!;
}

describe('a split as a scenario', () => {
  it('has the engines of its topology at their sizes', () => {
    const seen = pools(AS_CONFIGURED).map(({ role, count, gpus }) => [role, count, gpus]);
    expect(seen).toEqual([
      ['prefill', 1, 2],
      ['decode', 2, 1],
    ]);
    expect(pools(AS_CONFIGURED).map(({ options }) => options.maxNumSeqs)).toEqual([8, 1_024]);
    expect(pools(AS_CONFIGURED, AGGREGATED)).toMatchObject([{ role: 'aggregated', gpus: 2 }]);
  });
});

describe('assumptions', () => {
  it('double and halve the link', () => {
    const [base] = pools(AS_CONFIGURED);
    const rate = base!.link.bytesPerSecond;
    for (const [name, factor] of [
      ['link bandwidth x0.5', 0.5],
      ['link bandwidth x2', 2],
    ] as const) {
      for (const { link } of pools(named(name))) expect(link.bytesPerSecond).toBe(rate * factor);
    }
  });

  it('remove or double the overhead of each size', () => {
    const batch = { ...NO_PROMPT, ...DECODES };
    const us = (assumption: Assumption): number[] => {
      return pools(assumption).map(({ options }) => options.stepTime.stepUs(batch));
    };
    const [more, less] = [us(named('step overhead x2')), us(named('no step overhead'))];
    // 0.3 ms whatever the size: libs/hardware, composed.
    const one = us(AS_CONFIGURED);
    const overhead = [expect.closeTo(300), expect.closeTo(300)];
    expect(one.map((base, i) => base - less[i]!)).toEqual(overhead);
    expect(one.map((base, i) => more[i]! - base)).toEqual(overhead);
  });

  it('weigh decodes in mixed steps, and nothing else', () => {
    const us = (assumption: Assumption, batch: object): number => {
      const [pool] = pools(assumption, AGGREGATED);
      return pool!.options.stepTime.stepUs({ ...NO_PROMPT, ...DECODES, ...batch });
    };
    const heavy = named('mixed_decode_factor 3.2');
    expect(us(heavy, PROMPT)).toBeGreaterThan(us(AS_CONFIGURED, PROMPT));
    expect(us(heavy, {})).toBe(us(AS_CONFIGURED, {}));
  });

  it('shrink the chunks of aggregated engines only', () => {
    const small = named('aggregated token budget / 4');
    const budgets = (split: Candidate): number[] => {
      return pools(small, split).map(({ options }) => options.maxNumBatchedTokens);
    };
    expect([budgets(AGGREGATED), budgets(SPLIT)]).toEqual([[2_048], [8_192, 8_192]]);
  });

  it('apply only to parts of the step times', () => {
    const names = (config: Partial<BatonConfig>): string[] => {
      return assumptionsOf(defaultConfig(config)).map(({ name }) => name);
    };
    expect(names({ stepTime: 'constant' })).toEqual([
      ...['link bandwidth x0.5', 'link bandwidth x2', 'aggregated token budget / 4'],
    ]);
    expect(names({ stepTimeFile: 'measured.json' })).not.toContain('no step overhead');
    expect(names({})).toHaveLength(8);
  });

  it('apply only to splits that they can change', () => {
    const both = assumptionsOf(CONFIG).filter((each) => {
      return concerns(each, SPLIT) && concerns(each, AGGREGATED);
    });
    expect(both).toHaveLength(5);
    expect(concerns(named('link bandwidth x2'), AGGREGATED)).toBe(false);
    expect(concerns(named('aggregated token budget / 4'), SPLIT)).toBe(false);
  });
});
