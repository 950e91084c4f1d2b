import type { RunRecord } from '@baton/analysis';
import { simulate } from '@baton/simulation';
import {
  type FrontEnd,
  VLLM_FRONT_END,
  buildStepTimeModel,
  type StepTimeModel,
  type StepTimeProfile,
} from '@baton/step-time';
import {
  findGpu,
  findModel,
  type ModelGeometry,
  NULL_BLOCKS,
  parameterCount,
} from '@baton/hardware';
import { WorkloadBuilder, type Workload } from '@baton/workload';
import { readLines, rowsOf } from './files';
import type { Finding } from './finding';
import { BenchSweep, type SweepResult } from './h100-sweep';
import { aggregatedScenario } from './one-engine';

const POINTS = ['measured', 'silybench-h100-qwen3-8b', 'perf_points_bf16.csv'];
const PART = 'vLLM 0.30, Qwen3-8B BF16 on one H100, closed loop';
const AIMS = { itl: 5, throughput: 5, ttft: 10 } as const;
/**
 * The measured engine's configuration: its KV, the token budget derived from its P99 ITL, and slots
 * for the largest concurrency.
 */
const ENGINE = {
  numBlocks: 377_024 / 16 - NULL_BLOCKS,
  maxNumBatchedTokens: 8_192,
  maxNumSeqs: 1_024,
};
/** The shape of the points in the fit. */
const FIT_SHAPE = 'chat-128-128';

interface Point {
  readonly name: string;
  readonly concurrency: number;
  readonly prompts: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly itlMs: number;
  readonly tokensPerSecond: number;
  readonly ttftP95Ms: number;
}

interface Fitted {
  /** Linear part of a step, ms, by its tokens. */
  readonly linear: readonly (readonly [number, number])[];
  /** From the client to the engine, plus the first token's way back. */
  readonly requestMs: number;
}

/**
 * A closed loop at several concurrencies and three shapes. Step times begin as those of
 * Llama-3.1-8B on an H100, measured operator by operator, and are transferred to Qwen3-8B by
 * geometry: linear work by parameters, attention by layers. The linear part of small steps and one
 * constant per request are then fitted to one shape; the two other shapes are the test. TTFT and
 * output are those of the whole sweep on one server, whose runs repeat each other's prompts.
 */
export function h100ClosedLoop(): { findings: Finding[]; note: string } {
  const points = rowsOf(...POINTS).map(pointOf);
  const isFit = ({ name }: Point): boolean => name === FIT_SHAPE;
  const fitted = fit(points.filter(isFit));
  const names = [...new Set(points.map(({ name }) => name))];
  const shapes = names.map((name) => points.filter((point) => point.name === name));
  const findings = shapes.flatMap((shape) => {
    const swept = sweptOf(shape, fitted);
    return shape.flatMap((point, i) => findingsOf(point, [fitted, swept[i]!], isFit(point)));
  });
  const steps = fitted.linear.map(([tokens, ms]) => `${tokens}: ${ms.toFixed(2)}`).join(', ');
  const note =
    `On the H100, the linear part of steps is fitted to the median ITL of ${FIT_SHAPE} (ms by ` +
    `tokens: ${steps}), and the time per request, ${fitted.requestMs.toFixed(1)} ms, to its TTFT ` +
    'at concurrency 1.';
  return { findings, note };
}

function pointOf(row: Readonly<Record<string, string>>): Point {
  return {
    name: row['workload'] ?? '',
    concurrency: Number(row['concurrency']),
    prompts: Number(row['num_prompts']),
    promptTokens: Number(row['input_len']),
    outputTokens: Number(row['output_len']),
    itlMs: Number(row['itl_median_ms']),
    tokensPerSecond: Number(row['output_throughput']),
    ttftP95Ms: Number(row['ttft_p95_ms']),
  };
}

/**
 * The part of a measured step, with as many tokens as requests, that is not attention; attention
 * comes from the carried-over profile.
 */
function fit(points: readonly Point[]): Fitted {
  const [g0, g1, g2] = carriedOver().decodeAttentionMs;
  const linear = points.map(({ concurrency, promptTokens, outputTokens, itlMs }) => {
    const context = concurrency * (promptTokens + outputTokens / 2);
    return [concurrency, itlMs - g0 - g1 * concurrency - g2 * context] as const;
  });
  const alone = points.find(({ concurrency }) => concurrency === 1)!;
  const bare = ran(alone, { linear, requestMs: 0 });
  return { linear, requestMs: alone.ttftP95Ms - bare.ttftP95Ms };
}

function findingsOf(
  point: Point,
  [fitted, swept]: readonly [Fitted, SweepResult],
  isFitted: boolean,
): Finding[] {
  const ours = { ...ran(point, fitted), ...swept };
  const shape =
    `${point.promptTokens} in, ${point.outputTokens} out, concurrency ` + `${point.concurrency}`;
  const base = { part: PART, isFitted };
  return [
    {
      ...base,
      what: `${shape}: median ITL`,
      theirs: point.itlMs,
      ours: ours.itlMs,
      unit: 'ms',
      aim: AIMS.itl,
    },
    {
      ...base,
      what: `${shape}: output`,
      theirs: point.tokensPerSecond,
      ours: ours.tokensPerSecond,
      unit: 'tokens/s',
      aim: AIMS.throughput,
    },
    {
      ...base,
      what: `${shape}: TTFT P95`,
      theirs: point.ttftP95Ms,
      ours: ours.ttftP95Ms,
      unit: 'ms',
      aim: AIMS.ttft,
    },
  ];
}

/** TTFT and output of all points of a shape. */
function sweptOf(shape: readonly Point[], fitted: Fitted): SweepResult[] {
  const sweep = new BenchSweep(shape);
  const stepTime = qwen3OnH100(fitted.linear);
  const scenario = aggregatedScenario(sweep.workload, { stepTime, ...ENGINE });
  const { log } = simulate({ ...scenario, frontEnd: frontEndOf(fitted) });
  return shape.map((point) => sweep.resultOf(point, log));
}

/** One point alone, without cached prompts. */
function ran(point: Point, fitted: Fitted): Pick<Point, 'itlMs' | 'ttftP95Ms'> {
  const stepTime = qwen3OnH100(fitted.linear);
  const scenario = aggregatedScenario(closedLoop(point), { stepTime, ...ENGINE });
  const run = simulate({ ...scenario, frontEnd: frontEndOf(fitted) });
  return {
    itlMs: run.itl.quantileUs(0.5) / 1000,
    ttftP95Ms: ttftP95Ms(run),
  };
}

/**
 * One constant, fitted with the steps. The default of `baton replay` comes from these rows, its
 * part that occupies the server from another source.
 */
function frontEndOf({ requestMs }: Fitted): FrontEnd {
  const requestUs = requestMs * 1_000;
  return { ...VLLM_FRONT_END, name: 'fitted', requestUs, promptTokenUs: 0 };
}

/** As many clients as the concurrency, each sending its next request when its last has ended. */
function closedLoop({ prompts, promptTokens, outputTokens, concurrency }: Point): Workload {
  const builder = new WorkloadBuilder();
  for (let row = 0; row < prompts; row++) {
    const former = row < concurrency ? {} : { after: row - concurrency };
    builder.add({ arrivalUs: 0, promptTokens, outputTokens, ...former });
  }
  return builder.build();
}

function ttftP95Ms({ log }: RunRecord): number {
  const ttfts = Float64Array.from(log.firstTokenUs, (us, row) => us - log.arrivalUs.at(row));
  return ttfts.sort()[Math.ceil(0.95 * ttfts.length) - 1]! / 1000;
}

interface Unified {
  readonly gpu: string;
  readonly model: string;
  readonly tp: number;
  readonly linear_ms: readonly (readonly [number, number])[];
  readonly decode_attn_ms_g0_g1B_g2S: readonly [number, number, number];
  readonly prefill_attn_ms_h0_h1Q: readonly [number, number];
}

/** Beyond the fitted points it follows the transferred ones, where they rise further. */
function qwen3OnH100(linear: Fitted['linear']): StepTimeModel {
  const carried = carriedOver();
  const [lastTokens, lastMs] = linear.at(-1)!;
  const rest = carried.linear.tokens
    .map((tokens, i) => [tokens, carried.linear.ms[i]!] as const)
    .filter(([tokens, ms]) => tokens > lastTokens && ms > lastMs);
  const points = [...linear, ...rest];
  const profile = {
    ...carried,
    linear: { tokens: points.map(([tokens]) => tokens), ms: points.map(([, ms]) => ms) },
  };
  const placement = { model: findModel('qwen3-8b'), gpu: findGpu('h100'), tp: 1 };
  return buildStepTimeModel({ kind: 'calibrated', profile }, placement);
}

function carriedOver(): StepTimeProfile {
  const all = JSON.parse(readLines('profiles', 'unified_model.json').join('\n')) as Unified[];
  const llama = all.find(
    ({ gpu, model, tp }) => gpu.startsWith('H100') && model.endsWith('8B') && tp === 1,
  )!;
  const [from, to] = [findModel('llama-3.1-8b'), findModel('qwen3-8b')];
  const linear = linearParameters(to) / linearParameters(from);
  const attention = to.layers / from.layers;
  const [g0, g1, g2] = llama.decode_attn_ms_g0_g1B_g2S;
  const [h0, h1] = llama.prefill_attn_ms_h0_h1Q;
  return {
    linear: {
      tokens: llama.linear_ms.map(([tokens]) => tokens),
      ms: llama.linear_ms.map(([, ms]) => ms * linear),
    },
    decodeAttentionMs: [g0 * attention, g1 * attention, g2 * attention],
    prefillAttentionMs: [h0 * attention, h1 * attention],
    overheadMs: 0,
    valid: {},
  };
}

/** Weights that every token is multiplied with: all but the table of input embeddings. */
function linearParameters(model: ModelGeometry): number {
  const table = model.tiedEmbeddings ? 0 : model.vocabulary * model.hidden;
  return parameterCount(model) - table;
}
