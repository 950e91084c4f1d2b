import type { Micros } from '@baton/kernel';
import {
  drawArrivals,
  generateSingleTurn,
  type Workload,
  WorkloadBuilder,
  workloadStream,
} from '@baton/workload';
import { type CsvRow, rowsOf } from './files';

const SEED = 1;
const BLOCK_TOKENS = 16;
/** OPT has no longer contexts. */
const MOST_CONTEXT = 2_048;

/** A workload of the paper, with its SLO and the engines of both designs. */
export interface DistserveCase {
  readonly figure: string;
  readonly workload: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly ttftUs: Micros;
  readonly tpotUs: Micros;
  readonly vllmTp: number;
  readonly topology: string;
  readonly prefillTp: number;
  readonly decodeTp: number;
  /** Goodput per GPU of DistServe over vLLM's. The paper gives a range over models for ShareGPT. */
  readonly ratios: readonly [from: number, to: number];
}

export function distserveCases(): DistserveCase[] {
  return rowsOf('published', 'distserve_osdi24_goodput.csv').map((row) => ({
    figure: row['figure']!,
    workload: row['workload']!,
    model: row['model']!,
    promptTokens: Number(row['prompt_tokens']),
    outputTokens: Number(row['output_tokens']),
    ttftUs: 1_000 * Number(row['ttft_ms']),
    tpotUs: 1_000 * Number(row['tpot_ms']),
    vllmTp: Number(row['vllm_tp']),
    topology: row['topology']!,
    prefillTp: Number(row['prefill_tp']),
    decodeTp: Number(row['decode_tp']),
    ratios: [Number(row['ratio']), Number(row['ratio_to'])],
  }));
}

/** The requests that DistServe's authors measured on vLLM, in the order of their arrival. */
export function measuredRequests(): CsvRow[] {
  return rowsOf('measured', 'distserve-a100-opt-13b', 'requests.csv');
}

/** They, as they arrived. */
export function measuredWorkload(): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: BLOCK_TOKENS });
  for (const row of measuredRequests()) {
    builder.add({ arrivalUs: Math.round(1e6 * Number(row['issue_s'])), ...lengthsOf(row) });
  }
  return builder.build();
}

/**
 * Poisson arrivals, as in the paper. The datasets are not shipped: the lengths of ShareGPT are
 * drawn from the measured requests, other lengths uniformly around the paper's means.
 */
export function loadOf(
  one: DistserveCase,
  { ratePerSecond, requests }: { readonly ratePerSecond: number; readonly requests: number },
): Workload {
  const arrivalUs = drawArrivals(
    { kind: 'poisson', ratePerSecond },
    { count: requests, durationUs: undefined, exactRate: true },
    workloadStream(SEED, 'arrivals'),
  );
  if (one.workload === 'ShareGPT') return measuredLengths(arrivalUs);
  const spread = one.figure === '1' ? 0 : 1 / 2;
  return generateSingleTurn({
    arrivalUs,
    prompt: around(one.promptTokens, Math.min(spread, MOST_CONTEXT / one.promptTokens - 1.05)),
    output: around(one.outputTokens, spread),
    shared: undefined,
    blockTokens: BLOCK_TOKENS,
    seed: SEED,
  });
}

function around(tokens: number, spread: number): { kind: 'uniform'; min: number; max: number } {
  const part = Math.max(0, spread) * tokens;
  return { kind: 'uniform', min: Math.round(tokens - part), max: Math.round(tokens + part) };
}

function measuredLengths(arrivalUs: Float64Array): Workload {
  const measured = measuredRequests();
  const stream = workloadStream(SEED, 'lengths');
  const builder = new WorkloadBuilder({ contentBlockTokens: BLOCK_TOKENS });
  for (const us of arrivalUs) {
    builder.add({ arrivalUs: us, ...lengthsOf(measured[stream.integer(measured.length)]!) });
  }
  return builder.build();
}

function lengthsOf(row: CsvRow): { promptTokens: number; outputTokens: number } {
  return {
    promptTokens: Number(row['prompt_tokens']),
    outputTokens: Number(row['output_tokens']),
  };
}
