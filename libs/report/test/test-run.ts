import {
  type EngineRecord,
  type EngineRoleName,
  IntervalHistogram,
  outcomeCode,
  RequestLog,
  type RunRecord,
  type SeriesRecord,
} from '@baton/analysis';
import { RandomStream } from '@baton/kernel';

export interface TestRunOptions {
  readonly requests: number;
  readonly roles: readonly EngineRoleName[];
  readonly seed?: number;
  readonly samples?: number;
}

/** A generated run for specs, with plausible numbers and without an engine. */
export function testRun({ requests, roles, seed = 1, samples = 900 }: TestRunOptions): RunRecord {
  const random = RandomStream.root(seed).stream('test run');
  const log = new RequestLog(requests);
  const itl = new IntervalHistogram();
  const indices = (wanted: EngineRoleName): number[] =>
    roles.flatMap((role, index) => (role === wanted ? [index] : []));
  const pick = (from: readonly number[]): number => from[random.integer(from.length)]!;
  const heavy = (mean: number): number => Math.round(random.exponential(mean));
  let nowUs = 0;
  for (let row = 0; row < requests; row++) {
    nowUs += heavy(100_000);
    const isAggregated = indices('prefill').length === 0;
    const tokens = 1 + heavy(200);
    const stepUs = 18_000 + heavy(9_000);
    log.arrivalUs.set(row, nowUs);
    log.outcome[row] = outcomeCode('completed');
    log.promptTokens[row] = 16 + heavy(2_000);
    log.cachedTokens[row] = Math.floor((log.promptTokens[row]! * random.unit()) / 2);
    log.outputTokens[row] = log.emittedTokens[row] = tokens;
    log.prefillStartUs.set(row, nowUs + heavy(200_000));
    let readyUs = log.prefillStartUs.at(row) + 20_000 + log.promptTokens[row]! * 90;
    log.prefillEngine[row] = pick(indices(isAggregated ? 'aggregated' : 'prefill'));
    log.decodeEngine[row] = isAggregated ? log.prefillEngine[row]! : pick(indices('decode'));
    if (!isAggregated) {
      log.heldUs.set(row, readyUs);
      log.transferStartUs.set(row, (readyUs += heavy(5_000)));
      log.transferEndUs.set(row, (readyUs += 2_000 + log.promptTokens[row]! * 10));
      log.transferredTokens[row] = log.promptTokens[row]!;
    }
    log.firstTokenUs.set(row, readyUs + stepUs);
    log.finishUs.set(row, log.firstTokenUs.at(row) + (tokens - 1) * stepUs);
    if (tokens > 1) itl.addLinear(stepUs, (tokens - 1) * stepUs, tokens - 1, 1);
  }
  if (requests > 10) log.outcome[7] = outcomeCode('rejected');
  const endUs = [...log.finishUs].reduce((last, us) => Math.max(last, us), 0);
  const engines = roles.map((role, index) => engineOf(role, index, endUs));
  const series = seriesOf({ engines: roles.length, samples, endUs }, random);
  return { log, engines, itl, series, lives: [], endUs, steps: 1_000, events: 900 };
}

function engineOf(role: EngineRoleName, index: number, endUs: number): EngineRecord {
  return {
    engineId: `${role}-${index}`,
    role,
    gpus: 8,
    numBlocks: 20_000,
    maxNumSeqs: 256,
    maxNumBatchedTokens: 2_048,
    steps: 500,
    busyUs: endUs * (0.3 + 0.05 * index),
    prefillBusyUs: role === 'decode' ? 0 : endUs * 0.2,
    upUs: endUs,
    promptTokensComputed: 120_000,
    promptTokensCached: 30_000,
    promptTokensTransferred: role === 'decode' ? 100_000 : 0,
    prefixQueriesTokens: 150_000,
    prefixHitsTokens: 30_000,
    generatedTokens: 90_000,
    preemptions: 2,
    finished: 400,
    runningMean: 64,
    kvTransferBytes: role === 'decode' ? 3e9 : 0,
    kvUsageMean: 0.4,
    kvUsageMax: 0.93,
    leaseExpiries: 0,
  };
}

interface SeriesShape {
  readonly engines: number;
  readonly samples: number;
  readonly endUs: number;
}

function seriesOf({ engines, samples, endUs }: SeriesShape, random: RandomStream): SeriesRecord {
  const walk = (top: number): Float32Array => {
    const values = new Float32Array(engines * samples);
    for (let engine = 0; engine < engines; engine++) {
      let value = random.unit() * top;
      for (let i = 0; i < samples; i++) {
        value = Math.min(top, Math.max(0, value + (random.unit() - 0.5) * top * 0.08));
        values[engine * samples + i] = value;
      }
    }
    return values;
  };
  return {
    startUs: 0,
    intervalUs: Math.ceil(endUs / Math.max(1, samples)),
    samples,
    running: walk(200),
    waiting: walk(30),
    fetching: new Float32Array(engines * samples),
    kvUsage: walk(1),
    heldBlocks: walk(400),
  };
}
