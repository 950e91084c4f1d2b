import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig, engineSetup } from '@baton/config';
import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';
import { afterAll, describe, expect, it } from 'vitest';
import { VirtualTarget, type VirtualTargetOptions } from '../../test/virtual-target';
import { factorBase } from '../profiling/factor-base';
import { fitSteps } from '../profiling/fit-steps';
import { readInput } from '../files/read-input';
import type { CalibrationRequest } from '../profiling/request';
import { calibrated } from './calibrated';
import type { LiveRequest, LoadRequest } from './live-request';
import { isTooFar, liveJson, liveText } from './live-report';
import type { LiveResult } from './live-result';
import { loadOf, type LoadPlan } from './load-plan';
import { explained } from './reasons';

const folder = mkdtempSync(join(tmpdir(), 'baton-live-'));
afterAll(() => rmSync(folder, { recursive: true }));

const OVERHEAD_MS = 3;
const REQUEST: CalibrationRequest = {
  inputs: [],
  format: undefined,
  out: undefined,
  json: false,
  input: { maxNumBatchedTokens: 8_192 },
  options: {
    fit: 'calibrated',
    holdOutEvery: 0,
    seed: 5,
    overheadMs: 0,
    placement: { model: undefined, gpu: undefined, tp: undefined },
  },
};
const LIVE: LiveRequest = {
  server: {
    origin: 'http://known',
    prefix: '',
    endpoint: '/v1/completions',
    backend: 'openai',
    protocol: 'openai',
    model: undefined,
    headers: {},
    extraBody: {},
    readyTimeoutMs: 0,
  },
  ignoreEos: true,
  requestTimeoutMs: 120_000,
  cluster: {},
  configFile: undefined,
  promptLengths: [16, 64, 128, 256, 512, 1_024, 2_048],
  batches: [1, 2, 4, 8],
  contexts: [64, 256, 1_024],
  rounds: 1,
  savePoints: undefined,
  maxError: undefined,
  load: {
    requests: 40,
    ratePerSecond: undefined,
    clients: undefined,
    promptTokens: undefined,
    outputTokens: [8, 48],
  },
};

interface Wanted extends Partial<Pick<LiveRequest, 'rounds' | 'cluster' | 'savePoints'>> {
  readonly load?: Partial<LoadRequest>;
  readonly out?: string;
  readonly options?: Partial<CalibrationRequest['options']>;
}

/**
 * Calibrates a cluster on the virtual clock, whose step times are the shipped ones of Llama-3.1-8B
 * on an H100.
 */
function run(
  options: Partial<VirtualTargetOptions> = {},
  { load, cluster, out, options: fit, ...wanted }: Wanted = {},
): Promise<LiveResult> {
  const config = { topology: '1P1D', ...options.config };
  const target = new VirtualTarget({
    overheadMs: OVERHEAD_MS,
    hasMetrics: true,
    ...options,
    config,
  });
  return calibrated(target, {
    request: { ...REQUEST, out, options: { ...REQUEST.options, ...fit } },
    live: {
      ...LIVE,
      ...wanted,
      cluster: { topology: config.topology, ...cluster },
      load: { ...LIVE.load, ...load },
    },
    name: 'http://known',
    maxModelLen: 8_192,
    say: () => undefined,
    write: (path, content) => writeFileSync(path, content),
  });
}

/** Largest |error| of a fitted profile on batches outside of every grid. */
function worstError(path: string): number {
  const times = (stepTimeFile?: string) =>
    engineSetup(defaultConfig(stepTimeFile === undefined ? {} : { stepTimeFile }), 'decode').options
      .stepTime;
  const [truth, fitted] = [times(), times(path)];
  const prompts = [prefillStep({ tokens: 700, ms: 1 }), prefillStep({ tokens: 1_500, ms: 1 })];
  const batched = prefillStep({ count: 3, tokens: 400, ms: 1 });
  const decodes = [decodeStep(3, 1_500, 1), decodeStep(6, 5_000, 1), decodeStep(1, 700, 1)];
  const errors = [...prompts, batched, ...decodes].map((step: MeasuredStep) => {
    const batch = { ...step, kvUsage: 0 };
    return Math.abs(fitted.stepUs(batch) / truth.stepUs(batch) - 1);
  });
  return Math.max(...errors);
}

function errorsOf({ load }: LiveResult): Record<string, number> {
  return Object.fromEntries(load!.heldOut.rows.map(({ name, error }) => [name, Math.abs(error)]));
}

describe('calibrate --live on a cluster of known step times', () => {
  it(
    'finds the step times, the overhead and the link, and predicts a load outside of the fit' +
      'to',
    async () => {
      const out = join(folder, 'handed-over.yaml');
      const result = await run({}, { out });
      expect(worstError(out)).toBeLessThan(0.02);
      expect(result.times.overheadMs).toBeCloseTo(OVERHEAD_MS, 1);
      // infiniband-ndr: 0.5 ms, and 131,072 bytes a token at 40 GB/s.
      expect(result.base.transfer?.latencyMs).toBeCloseTo(0.5, 1);
      expect(result.base.transfer?.perTokenMs).toBeCloseTo(131_072 / 40e6, 4);
      expect(result.times.kvBytesPerToken).toBe(131_072);
      const errors = errorsOf(result);
      for (const name of ['TTFT mean', 'TTFT p50', 'ITL mean', 'ITL p50', 'TPOT p50', 'E2EL p50']) {
        expect(errors[name], name).toBeLessThan(0.05);
      }
      expect(errors['output tokens']).toBeLessThan(0.02);
      expect(result.load?.reasons).toMatchObject({ pauses: expect.closeTo(0, 3) as number });
      // The stages do not disturb each other here. Composed times are curved where the fitted law
      // is straight, which shows as 14 % of a prompt beside a stream.
      expect(Math.abs(result.load!.reasons.contention!.prompt)).toBeLessThan(0.15);
      expect(result.load?.reasons.followed?.laterMs).toBeLessThan(0.1);
      expect(result.load?.reasons.contention?.holdUpMs).toBeLessThan(1);
      expect(result.load?.reasons.wavering).toEqual({ prompt: 0, decode: 0 });
    },
  );

  it('fits factors on composed steps, with their errors, to a server slower than these', async () => {
    const slow = join(folder, 'slow.yaml');
    writeFileSync(slow, 'kind: factors\nfactors: {prefill: 1.25, decode: 1.1, constant_ms: 1}\n');
    const out = join(folder, 'factors.yaml');
    const config = defaultConfig({});
    const placement = { model: config.model, gpu: config.gpu, tp: 1 };
    const base = factorBase(config);
    const options = { fit: 'factors', base, holdOutEvery: 5, placement } as const;
    const result = await run({ config: { stepTimeFile: slow } }, { options, out });
    const { factors, heldOut } = result.base.calibration;
    expect(factors!.prefill.value).toBeCloseTo(1.25, 1);
    expect(factors!.decode.value).toBeCloseTo(1.1, 1);
    expect(factors!.constantMs.value).toBeCloseTo(1, 0);
    expect(factors!.prefill.standardError).toBeGreaterThan(0);
    expect(heldOut.length).toBeGreaterThan(0);
    for (const { meanErrorPercent } of heldOut) expect(meanErrorPercent).toBeLessThan(3);
    expect(liveText(result)).toMatch(/held out \(every 5th, seed 5\)[^]*prefill × 1\.2\d* ± /);
    expect(readFileSync(out, 'utf8')).toMatch(/kind: factors[^]*standard_errors:/);
    expect(errorsOf(result)['ITL p50']).toBeLessThan(0.05);
    expect(errorsOf(result)['TTFT p50']).toBeLessThan(0.05);
  });

  it('finds no contention where the fitted law has the form of the step times', async () => {
    const { load } = await run({ config: { stepTime: 'calibrated' } });
    expect(Math.abs(load!.reasons.contention!.prompt)).toBeLessThan(0.02);
  });

  it('alternates grid and load, and predicts the load', async () => {
    const result = await run({}, { rounds: 4, load: { requests: 42, clients: 2 } });
    expect(result.load?.heldOut.real.completed).toBe(42);
    const errors = errorsOf(result);
    for (const name of ['TTFT mean', 'TTFT p50', 'ITL mean', 'E2EL p50', 'requests']) {
      expect(errors[name], name).toBeLessThan(0.05);
    }
  });

  it('subtracts no effect of other requests from a single client', async () => {
    const disturbed = async (clients: number) => {
      const { load } = await run({}, { load: { clients } });
      const { heldOut, reasons } = load!;
      const contention = { promptTokens: 512, prompt: 0.5, holdUpMs: 40 };
      const followed = { promptTokens: 512, laterMs: 80 };
      const disturbing = { ...reasons, contention, followed, pauses: 0, typical: 0 };
      return explained(heldOut, disturbing).filter(({ error, remainder }) => remainder !== error);
    };
    expect(await disturbed(1)).toEqual([]);
    const names = (await disturbed(4)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['TTFT mean', 'ITL p50', 'E2EL p50']));
  });

  it('works without metrics, and then counts transfers as part of prefill', async () => {
    const result = await run({ hasMetrics: false, config: { stepTime: 'calibrated' } });
    expect(Math.abs(result.times.overheadMs - OVERHEAD_MS)).toBeLessThan(0.6);
    expect(liveText(result)).toContain(
      'the server has no metric of them; they are part of prefill',
    );
    expect(errorsOf(result)['ITL p50']).toBeLessThan(0.02);
    // A pull waits for a step of decode, so the part of prefill cannot follow its load.
    expect(errorsOf(result)['TTFT p50']).toBeLessThan(0.15);
  });

  it('calibrates aggregated engines, and clients that wait for their answers', async () => {
    const out = join(folder, 'aggregated.yaml');
    const result = await run({ config: { topology: '1A' } }, { load: { clients: 3 }, out });
    expect(worstError(out)).toBeLessThan(0.02);
    expect(result.times.transfers).toEqual([]);
    expect(result.load?.reasons.contention).toBeUndefined();
    const errors = errorsOf(result);
    for (const name of ['TTFT p50', 'ITL p50', 'E2EL p50', 'requests']) {
      expect(errors[name], name).toBeLessThan(0.05);
    }
    expect(liveText(result)).toContain('3 clients in a closed loop');
  });

  it('simulates with the options of the cluster, whose effect a load shows', async () => {
    const load = { ratePerSecond: 12 };
    const cluster = { maxNumSeqs: '1' };
    const unchanged = await run({ config: { maxNumSeqs: 1 } }, { load, cluster });
    const otherwise = await run({ config: { maxNumSeqs: 1 } }, { load });
    expect(errorsOf(unchanged)['E2EL p50']).toBeLessThan(0.1);
    expect(errorsOf(otherwise)['E2EL p50']).toBeGreaterThan(0.3);
    expect(isTooFar(otherwise, 0.1)).toBe(true);
    expect(isTooFar(otherwise, undefined)).toBe(false);
    expect(liveText(otherwise)).toContain('Errors above 10.0 %: ');
  });

  it('gives the same result each time, and again from its saved points', async () => {
    const points = join(folder, 'points.csv');
    const results = [await run({}, { savePoints: points }), await run()];
    expect(liveJson(results[0]!)).toBe(liveJson(results[1]!));
    const read = readInput(points, undefined, { maxNumBatchedTokens: 8_192 });
    const [again, fitted] = [read.steps, results[0]!.times.steps].map(
      (steps) => fitSteps(steps, { options: { ...REQUEST.options, pieces: 'all' } }).file['linear'],
    );
    expect(again).toEqual(fitted);
    expect(readFileSync(points, 'utf8').split('\n')[0]).toBe(
      'phase,batch_size,tokens_or_context,cached_prefix,latency_ms',
    );
  });

  it('prints the same facts as one JSON document', async () => {
    const document = JSON.parse(liveJson(await run())) as { live: Record<string, unknown> };
    expect(Object.keys(document)).toEqual(
      expect.arrayContaining(['fit', 'fitted', 'profile', 'kv_transfer', 'live']),
    );
    expect(document.live).toMatchObject({
      server: 'http://known',
      topology: '1P1D',
      load: { sender_void: null, failures: [] },
    });
  });

  it('ends with the sentence of the server when a request of the grid fails', async () => {
    await expect(run({ failsFromRun: 4 })).rejects.toThrow(
      'A request of the measurement failed: http_500: fails on request',
    );
  });
});

describe('a load in pieces', () => {
  const lengths = (pieces: number, arrivals: LoadPlan['arrivals']): string[] =>
    loadOf({ ...PLAN, arrivals }, pieces).flatMap(({ count, promptTokens, outputTokens }) =>
      Array.from({ length: count }, (_none, i) => `${promptTokens[i]}+${outputTokens[i]}`),
    );

  it.each([{ clients: 3 }, { ratePerSecond: 5 }])(
    'has the requests of the whole load (%j)',
    (come) => {
      const whole = lengths(1, come);
      expect(whole).toHaveLength(PLAN.requests);
      for (const pieces of [2, 5, 30]) expect(lengths(pieces, come)).toEqual(whole);
    },
  );

  it('starts again with each piece: at once, and with as many clients', () => {
    for (const { arrivalUs } of loadOf({ ...PLAN, arrivals: { ratePerSecond: 5 } }, 3)) {
      expect(arrivalUs[0]).toBe(0);
    }
    for (const { after } of loadOf({ ...PLAN, arrivals: { clients: 2 } }, 3)) {
      expect([...after.slice(0, 4)]).toEqual([-1, -1, 0, 1]);
    }
  });
});

const PLAN = {
  requests: 23,
  seed: 7,
  avoided: [40],
  promptTokens: [20, 90] as const,
  outputTokens: [4, 9] as const,
};
