import type { RequestLog } from '@baton/analysis';
import { simulate } from '@baton/simulation';
import { findGpu, findModel, kvCapacityBlocks, NULL_BLOCKS } from '@baton/hardware';
import type { StepTimeModel } from '@baton/step-time';
import { WorkloadBuilder, type Workload } from '@baton/workload';
import { rtxPro6000Model } from './composed';
import { readLines } from './files';
import type { Finding } from './finding';
import { aggregatedScenario } from './one-engine';

const FOLDER = ['measured', 'llmservingsim-rtxpro6000-llama-3.1-8b'];
const PART =
  'vLLM 0.19, Llama-3.1-8B on one RTX PRO 6000: 300 requests of ShareGPT at 10 per second';
const AIM_PERCENT = 2;
/** The engine of the log: its version (0.19) and arguments, by the log's meta.json. */
const VLLM_MINOR = 19;
const LIMITS = { maxNumSeqs: 128, maxNumBatchedTokens: 2_048 } as const;
/** Every third request belongs to the fit of the one constant. The others are the test. */
const FIT_EVERY = 3;

interface Logged {
  readonly input_toks: number;
  readonly output_toks: number;
  readonly queued_ts: number;
  readonly first_token_ts: number;
  readonly last_token_ts: number;
}

interface Means {
  readonly ttftMs: number;
  readonly tpotMs: number;
  readonly latencyMs: number;
}

/**
 * The log of a real engine, replayed. Step times are composed from operators measured on the same
 * card; the work outside of the operators (scheduling, launching, sampling on the host) is one
 * constant per step, fitted to the mean TPOT of every third request and reported on the others.
 */
export function vllmLog(): { findings: Finding[]; note: string } {
  const logged = readLines(...FOLDER, 'requests.jsonl').map((line) => JSON.parse(line) as Logged);
  const workload = workloadOf(logged);
  const isFit = (row: number): boolean => row % FIT_EVERY === 0;
  const target = measured(logged, isFit).tpotMs;
  const overheadMs = fittedOverheadMs(target, (ms) => simulated(workload, ms, isFit).tpotMs);
  const [theirs, ours] = [
    measured(logged, not(isFit)),
    simulated(workload, overheadMs, not(isFit)),
  ];
  const finding = (what: string, of: keyof Means): Finding => ({
    part: PART,
    what,
    unit: 'ms',
    aim: AIM_PERCENT,
    theirs: theirs[of],
    ours: ours[of],
  });
  return {
    findings: [
      finding('mean TTFT', 'ttftMs'),
      finding('mean TPOT', 'tpotMs'),
      finding('mean latency', 'latencyMs'),
    ],
    note:
      `The overhead per step, ${overheadMs.toFixed(2)} ms, is fitted to the mean TPOT of every ` +
      'third request of the vLLM log; its table shows the other requests.',
  };
}

function workloadOf(logged: readonly Logged[]): Workload {
  const startS = Math.min(...logged.map(({ queued_ts }) => queued_ts));
  const builder = new WorkloadBuilder();
  for (const { input_toks, output_toks, queued_ts } of logged) {
    const arrivalUs = Math.round((queued_ts - startS) * 1e6);
    builder.add({ arrivalUs, promptTokens: input_toks, outputTokens: output_toks });
  }
  return builder.build();
}

const models = new Map<number, StepTimeModel>();

function simulated(
  workload: Workload,
  overheadMs: number,
  isMeant: (row: number) => boolean,
): Means {
  const stepTime = models.get(overheadMs) ?? rtxPro6000Model(overheadMs);
  models.set(overheadMs, stepTime);
  const placement = { model: findModel('llama-3.1-8b'), gpu: findGpu('rtx-pro-6000'), tp: 1 };
  const capacity = { ...placement, ...LIMITS, gpuMemoryUtilization: 0.9, blockSize: 16 };
  const numBlocks = kvCapacityBlocks({ ...capacity, vllmMinor: VLLM_MINOR }) - NULL_BLOCKS;
  const { log } = simulate(aggregatedScenario(workload, { stepTime, ...LIMITS, numBlocks }));
  return meansOf(timesOf(log), isMeant);
}

interface Times {
  readonly ttftMs: number;
  readonly latencyMs: number;
  readonly tokens: number;
}

function timesOf(log: RequestLog): Times[] {
  return Array.from({ length: log.count }, (_, row) => ({
    ttftMs: (log.firstTokenUs.at(row) - log.arrivalUs.at(row)) / 1000,
    latencyMs: (log.finishUs.at(row) - log.arrivalUs.at(row)) / 1000,
    tokens: log.outputTokens[row]!,
  }));
}

function measured(logged: readonly Logged[], isMeant: (row: number) => boolean): Means {
  const times = logged.map(({ queued_ts, first_token_ts, last_token_ts, output_toks }) => ({
    ttftMs: 1000 * (first_token_ts - queued_ts),
    latencyMs: 1000 * (last_token_ts - queued_ts),
    tokens: output_toks,
  }));
  return meansOf(times, isMeant);
}

function meansOf(times: readonly Times[], isMeant: (row: number) => boolean): Means {
  const meant = times.filter((_, row) => isMeant(row));
  const mean = (of: (one: Times) => number): number =>
    meant.reduce((sum, one) => sum + of(one), 0) / meant.length;
  return {
    ttftMs: mean(({ ttftMs }) => ttftMs),
    tpotMs: mean(({ latencyMs, ttftMs, tokens }) => (latencyMs - ttftMs) / Math.max(1, tokens - 1)),
    latencyMs: mean(({ latencyMs }) => latencyMs),
  };
}

/** By bisection to 0.02 ms: a step that takes longer makes every token later. */
function fittedOverheadMs(target: number, tpotMs: (overheadMs: number) => number): number {
  let [low, high] = [0, 10];
  while (high - low > 0.02) {
    const middle = (low + high) / 2;
    if (tpotMs(middle) < target) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function not(is: (row: number) => boolean): (row: number) => boolean {
  return (row) => !is(row);
}
