import { costSummary, type EngineRecord } from '@baton/analysis';
import { defaultConfig } from '@baton/config';
import { GPU_POWER, GPU_PRICES, GPUS } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { ratesOf } from './rates-of';
import { readGpuPrices } from './read-gpu-prices';

const NONE = new Map();
const HOUR = 3.6e9;

function engine(role: EngineRecord['role'], times: Partial<EngineRecord>): EngineRecord {
  const zero = { promptTokensComputed: 0, promptTokensCached: 0, promptTokensTransferred: 0 };
  const more = { prefixQueriesTokens: 0, prefixHitsTokens: 0, generatedTokens: 0, preemptions: 0 };
  const rest = { finished: 0, kvTransferBytes: 0, kvUsageMean: 0, kvUsageMax: 0, leaseExpiries: 0 };
  return {
    engineId: role,
    role,
    gpus: 2,
    numBlocks: 1,
    maxNumSeqs: 1,
    maxNumBatchedTokens: 1,
    runningMean: 0,
    steps: 1,
    busyUs: 0,
    prefillBusyUs: 0,
    upUs: HOUR,
    ...zero,
    ...more,
    ...rest,
    ...times,
  };
}

describe('the shipped tables', () => {
  it('name GPUs of the catalogue, with a day and a source', () => {
    const names = GPUS.map(({ name }) => name);
    for (const { gpu, asOf, source, usdPerHour } of GPU_PRICES) {
      expect(names).toContain(gpu);
      expect(Number.isNaN(Date.parse(asOf))).toBe(false);
      expect(source).toMatch(/https:/);
      expect(usdPerHour).toBeGreaterThan(0);
    }
    for (const { gpu, idleWatts, decodeWatts, prefillWatts } of GPU_POWER) {
      expect(names).toContain(gpu);
      expect(idleWatts).toBeLessThan(decodeWatts);
      expect(decodeWatts).toBeLessThan(prefillWatts);
    }
  });
});

describe('prices', () => {
  it('come from the table, by the GPU of each role', () => {
    const config = defaultConfig({ gpu: 'h100', prefillGpu: 'b200' });
    const rates = ratesOf(config, ['prefill', 'decode'], NONE);
    expect(rates.prefill).toMatchObject({ gpu: 'b200', usdPerHour: 6.79 });
    expect(rates.decode).toMatchObject({ gpu: 'h100', usdPerHour: 3.99 });
    expect(rates.decode?.priceSource).toContain('2026-11-09');
  });

  it('are replaced by given ones, under any name of the GPU', () => {
    const given = readGpuPrices('H100-SXM=2.5, a100=1.2');
    expect(ratesOf(defaultConfig({ gpu: 'h100' }), ['decode'], given).decode).toMatchObject({
      usdPerHour: 2.5,
      priceSource: 'given',
      watts: { idle: 80 },
    });
  });

  it('and watts may be given as fields', () => {
    const given = readGpuPrices('{h20: {usd_per_hour: 1, idle_watts: 50, decode_watts: 200}}');
    const rate = ratesOf(defaultConfig({ gpu: 'h20' }), ['aggregated'], given).aggregated;
    expect(rate).toMatchObject({ usdPerHour: 1, watts: undefined });
  });

  it.each([
    ['h100', "--gpu-price must be GPU=DOLLARS, such as h100=2.5; 'h100' is not."],
    ['h100=cheap', "--gpu-price: 'h100' must be a number from 0 to 1000000."],
    ['{h100: {usd: 2}}', "--gpu-price: 'h100.usd' is unknown; the fields are usd_per_hour"],
    ['{h100: {idle_watts: -1}}', "'h100.idle_watts' must be a number from 0"],
    ['prices.yaml', '--gpu-price prices.yaml does not exist.'],
  ])('%s is refused in one sentence', (text, sentence) => {
    expect(() => readGpuPrices(text)).toThrow(sentence);
  });

  it('are refused for an unknown GPU, and required for each GPU', () => {
    const config = defaultConfig({ gpu: 'h20' });
    expect(() => ratesOf(config, ['decode'], readGpuPrices('h1000=2'))).toThrow('Unknown GPU');
    expect(() => ratesOf(config, ['decode'], NONE)).toThrow('Add --gpu-price h20=DOLLARS');
  });
});

describe('costs of a run', () => {
  it('are hours times prices, and energy is watts of each state times its time', () => {
    const config = defaultConfig({ gpu: 'h100', prefillGpu: 'h200' });
    const rates = ratesOf(config, ['prefill', 'decode'], readGpuPrices('h100=2,h200=4'));
    const engines = [
      engine('prefill', { busyUs: HOUR / 2, prefillBusyUs: HOUR / 2 }),
      engine('decode', { busyUs: HOUR / 2 }),
    ];
    const served = { seconds: 3_600, completed: 100, promptTokens: 9e5, outputTokens: 1e5 };
    const cost = costSummary(engines, rates, served);
    const joules = 2 * 1_800 * (80 + 700) + 2 * 1_800 * (80 + 480);
    expect(cost).toMatchObject({
      gpu_hours: 4,
      usd: 12,
      usd_per_hour: 12,
      usd_per_million_tokens: 12,
      usd_per_million_output_tokens: 120,
      usd_per_thousand_requests: 120,
      energy_kwh: joules / 3.6e6,
      joules_per_request: joules / 100,
      joules_per_output_token: joules / 1e5,
      mean_watts: joules / 3_600,
    });
    expect(cost.by_gpu.map(({ gpu, usd }) => [gpu, usd])).toEqual([
      ['h200', 8],
      ['h100', 4],
    ]);
  });

  it('have no energy where watts are unknown', () => {
    const rates = ratesOf(defaultConfig({ gpu: 'h20' }), ['decode'], readGpuPrices('h20=1'));
    const served = { seconds: 1, completed: 1, promptTokens: 1, outputTokens: 1 };
    const cost = costSummary([engine('decode', {})], rates, served);
    expect([cost.usd, cost.energy_kwh, cost.joules_per_request]).toEqual([2, null, null]);
  });
});
