import type { EnginePool } from '@baton/simulation';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { AS_CONFIGURED, type Assumption, concerns } from '../candidates/assumption';
import { type Candidate } from '../candidates/candidates';
import { listedRates } from '../costs/rates-of';
import { readGpuPrices } from '../costs/read-gpu-prices';
import { describeWorkload, type Workload, WorkloadBuilder } from '@baton/workload';
import { describe, expect, it } from 'vitest';
import { configOf } from '../engines/split-config';
import { assumptionsOf, canAssume, configUnder, scenarioUnder } from './assumed-scenario';

/** Requests of 320 prompt tokens, of which the first `shared` are the same. */
function workloadOf(shared: number): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: 16 });
  for (const arrivalUs of [0, 1_000]) {
    builder.add({ arrivalUs, promptTokens: 320, outputTokens: 10 });
    for (let block = 1; block <= shared / 16; block++) builder.addContent(block);
  }
  return builder.build();
}

const workload = workloadOf(0);
const SPLIT: Candidate = {
  topology: { prefill: 1, decode: 2, aggregated: 0 },
  prefillTp: 2,
  decodeTp: 1,
  gpus: 4,
  settings: {},
};
const AGGREGATED: Candidate = {
  topology: { prefill: 0, decode: 0, aggregated: 2 },
  prefillTp: 2,
  decodeTp: 2,
  gpus: 4,
  settings: {},
};
const CONFIG = defaultConfig({ prefillMaxNumSeqs: 8 });
const DECODES = { decodeSeqs: 8, decodeContext: 8_000, kvUsage: 0 };
const PROMPT = { prefillTokens: 100, prefillSeqs: 1, prefillQuadratic: 1e4, prefillContext: 0 };
const NO_PROMPT = { prefillTokens: 0, prefillSeqs: 0, prefillQuadratic: 0, prefillContext: 0 };

function scenario(assumption: Assumption, split = SPLIT, config = CONFIG) {
  return scenarioUnder(assumption, configOf(config, split), { workload });
}

function pools(assumption: Assumption, split = SPLIT, config = CONFIG): readonly EnginePool[] {
  return scenario(assumption, split, config).pools;
}

function all(config: BatonConfig = CONFIG, load = workload): Assumption[] {
  const description = describeWorkload(load);
  return assumptionsOf(config, {
    workload: load,
    description,
    ratesOf: (own) => listedRates(own, ['decode'], readGpuPrices('h200=1.5')),
  });
}

function named(name: string, config: BatonConfig = CONFIG): Assumption {
  return all(config).find((each) => each.name === name)!;
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

  it('scale prompts and outputs', () => {
    const lengths = (name: string): number[] => {
      const { promptTokens, outputTokens } = scenario(named(name)).workload;
      return [promptTokens[0]!, outputTokens[0]!];
    };
    expect([lengths('prompts x2'), lengths('prompts x0.5')]).toEqual([
      [640, 10],
      [160, 10],
    ]);
    expect([lengths('outputs x2'), lengths('outputs x0.5')]).toEqual([
      [320, 20],
      [320, 5],
    ]);
  });

  it('take an engine from a role that has another one', () => {
    const counts = (name: string): [string, number][] => {
      return pools(named(name)).map(({ role, count }) => [role, count]);
    };
    expect(counts('one decode engine lost')).toEqual([
      ['prefill', 1],
      ['decode', 1],
    ]);
    expect(concerns(named('one prefill engine lost'), SPLIT)).toBe(false);
    expect(pools(named('one aggregated engine lost'), AGGREGATED)[0]!.count).toBe(1);
  });

  it('try the GPU before and the one after, at their prices', () => {
    const gpus = (config: BatonConfig): string[] => {
      return all(config).flatMap(({ options }) => options?.gpu ?? []);
    };
    expect(gpus(defaultConfig({ gpu: 'h100' }))).toEqual(['a100-80g', 'h200']);
    expect(gpus(defaultConfig({ gpu: 'h200' }))).toEqual(['h100', 'b200']);
    expect(gpus(defaultConfig({ gpu: 'h100', decodeGpu: 'h200' }))).toEqual([]);
    expect(gpus(defaultConfig({ stepTime: 'constant' }))).toEqual([]);
    expect(configUnder(CONFIG, named('h200')).gpu).toBe('h200');
    expect(named('h200').rates?.decode).toMatchObject({ gpu: 'h200', usdPerHour: 1.5 });
    const unpriced = all(defaultConfig({ gpu: 'b300' })).filter(
      ({ variable }) => variable === 'GPU',
    );
    expect(unpriced.map(({ name }) => name)).toEqual(['b200']);
  });

  it('take the prefix cache away where prompts repeat, and let them repeat more', () => {
    const caches = (load: Workload): string[] => {
      return all(CONFIG, load)
        .filter(({ variable }) => variable === 'prefix cache')
        .map(({ name }) => name);
    };
    expect(caches(workloadOf(64))).toEqual(['no prefix cache', '160 common prompt tokens']);
    expect(caches(workload)).toEqual(['160 common prompt tokens']);
    const shared = scenario(named('160 common prompt tokens'));
    expect(describeWorkload(shared.workload).reusableShare).toBe(0.25);
    expect(shared.pools[0]!.options.enablePrefixCaching).toBe(true);
  });

  it('apply only to parts of the step times', () => {
    const variables = (config: Partial<BatonConfig>): unknown[] => {
      return [...new Set(all(defaultConfig(config)).map(({ variable }) => variable))];
    };
    const steps = ['step overhead', 'mixed_decode_factor'];
    expect(variables({})).toEqual(expect.arrayContaining(steps));
    const constant = variables({ stepTime: 'constant' });
    expect(constant.filter((one) => steps.includes(one as string))).toEqual([]);
    expect(variables({ stepTimeFile: 'measured.json' })).not.toContain('step overhead');
  });

  it('apply only to splits that they can change and whose engines can be built', () => {
    const given = { config: CONFIG, workload };
    const link = named('link bandwidth x2');
    expect([SPLIT, AGGREGATED].map((split) => canAssume(link, split, given))).toEqual([
      true,
      false,
    ]);
    const large = { config: defaultConfig({ model: 'llama-3.1-70b', gpu: 'h200' }), workload };
    const one = { ...AGGREGATED, prefillTp: 1, decodeTp: 1 };
    const older = named('h100', large.config);
    expect([one, AGGREGATED].map((split) => canAssume(older, split, large))).toEqual([false, true]);
    expect(canAssume(named('outputs x2'), SPLIT, given)).toBe(true);
  });
});
