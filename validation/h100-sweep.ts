import { median } from '@baton/kernel';
import type { RequestLog } from '@baton/analysis';
import { WorkloadBuilder, type Workload } from '@baton/workload';

/** A closed loop of the sweep. */
export interface SweepPoint {
  readonly concurrency: number;
  readonly prompts: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** The figures of one closed loop by its clients. */
export interface SweepResult {
  readonly tokensPerSecond: number;
  readonly ttftP95Ms: number;
}

/** Rows of one repeat of a point. */
interface Repeat {
  readonly point: SweepPoint;
  readonly from: number;
  readonly to: number;
}

/** `repeats` of the campaign; a published figure is the median over them. */
const REPEATS = 3;
const BLOCK_TOKENS = 16;
/** More than the prompts of any point: separates the prompts of the repeats. */
const PROMPTS_MOST = 1_000_000;
/** Pause between two runs of the client. Any pause has this effect in which all requests end. */
const PAUSE_US = 60_000_000;

/**
 * The points of one shape in the order in which they were measured, against one server. The
 * benchmark (tgarg01/silybench-bench, gpubench/perf.py) calls `vllm bench serve --dataset-name
 * random --random-range-ratio 0 --request-rate inf --max-concurrency N` for rising concurrencies,
 * three times each with the seeds 42 to 44. A seed makes the same prompts in the same order each
 * time, so those of a run that the prefix cache still has from the run before need no prefill
 * (vllm-project/vllm#52884). Clients send their next request when the last has ended.
 */
export class BenchSweep {
  readonly workload: Workload;
  private readonly repeats: Repeat[] = [];

  constructor(points: readonly SweepPoint[]) {
    const builder = new WorkloadBuilder({ contentBlockTokens: BLOCK_TOKENS });
    for (const point of points) {
      for (let repeat = 0; repeat < REPEATS; repeat++) this.add(builder, point, repeat);
    }
    this.workload = builder.build();
  }

  /** The result of a point: each figure the median over its repeats, as in the data. */
  resultOf(point: SweepPoint, log: RequestLog): SweepResult {
    const results = this.repeats
      .filter((repeat) => repeat.point === point)
      .map((repeat) => resultOf(repeat, log));
    return {
      tokensPerSecond: median(results.map((one) => one.tokensPerSecond)),
      ttftP95Ms: median(results.map((one) => one.ttftP95Ms)),
    };
  }

  private add(builder: WorkloadBuilder, point: SweepPoint, repeat: number): void {
    const { prompts, concurrency, promptTokens, outputTokens } = point;
    const from = builder.count;
    for (let i = 0; i < prompts; i++) {
      const isFirst = i < concurrency;
      const after = isFirst ? from - 1 : from + i - concurrency;
      const pause = isFirst && from > 0 ? PAUSE_US : 0;
      const former = after < 0 ? {} : { after };
      builder.add({ arrivalUs: pause, promptTokens, outputTokens, ...former });
      const blocks = Math.floor(promptTokens / BLOCK_TOKENS);
      const prompt = (repeat * PROMPTS_MOST + i) * blocks;
      for (let block = 1; block <= blocks; block++) builder.addContent(prompt + block);
    }
    this.repeats.push({ point, from, to: builder.count });
  }
}

function resultOf({ point, from, to }: Repeat, log: RequestLog): SweepResult {
  const rows = Array.from({ length: to - from }, (_none, i) => from + i);
  const ttfts = Float64Array.from(rows, (row) => log.firstTokenUs.at(row) - log.arrivalUs.at(row));
  const endUs = Math.max(0, ...rows.map((row) => log.finishUs.at(row)));
  return {
    tokensPerSecond:
      (point.prompts * point.outputTokens) / ((endUs - log.arrivalUs.at(from)) / 1e6),
    ttftP95Ms: ttfts.sort()[Math.ceil(0.95 * ttfts.length) - 1]! / 1000,
  };
}
