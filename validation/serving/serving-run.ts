import { summarise } from '@baton/analysis';
import { simulate } from '@baton/simulation';
import { HardwareError } from '@baton/hardware';
import { RandomStream } from '@baton/kernel';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import type { ServingPoint } from './serving-point';
import { lockstepRanksOf, servingScenario } from './serving-scenario';

/** Baton's result for a point. */
export interface ServingResult {
  readonly point: ServingPoint;
  readonly tpotMs: number;
  readonly ttftMs: number;
  /** The origin of the step times. */
  readonly method: string;
}

/** Time of a mean request in ms, with a mean time to its first token and per further token. */
export function requestMs(
  { outputTokens, shortest }: ServingPoint,
  { ttftMs, tpotMs }: Pick<ServingResult, 'ttftMs' | 'tpotMs'>,
): number {
  const gaps = (outputTokens * (1 + shortest)) / 2 - 1;
  return ttftMs + gaps * tpotMs;
}

/** Requests per client, as in InferenceX; the first of each is a burst. */
const ROUNDS = 10;
const REQUESTS_MIN = 16;

/** Replays the closed loop, or returns the reason why it is not possible. */
export function runPoint(point: ServingPoint): ServingResult | string {
  try {
    const { scenario, method } = servingScenario(point, closedLoop(point));
    const run = simulate(scenario);
    const { tpot_ms, ttft_ms } = summarise(run, { wallSeconds: NaN, seed: 0 });
    if (tpot_ms.mean === null || ttft_ms.mean === null) return 'no request completed';
    return { point, tpotMs: tpot_ms.mean, ttftMs: ttft_ms.mean, method };
  } catch (error) {
    if (error instanceof HardwareError) return error.message;
    throw error;
  }
}

/**
 * The simulated engines' share of the clients. Each client sends its next request when its last one
 * has ended.
 */
function closedLoop(point: ServingPoint): Workload {
  const { promptTokens, outputTokens, shortest, engines, framework } = point;
  // Aggregated engines are equal and share nothing. One of them is run, with all ranks that step
  // together.
  const ranks = lockstepRanksOf(engines.placement, framework) ?? 1;
  const shares = point.disaggregated === undefined ? engines.count / ranks : 1;
  const clients = Math.max(1, Math.round(point.concurrency / shares));
  const requests = Math.max(REQUESTS_MIN, ROUNDS * clients);
  const lengths = RandomStream.root(0).stream('lengths');
  const draw = (tokens: number): number =>
    Math.max(2, Math.round(tokens * (shortest + (1 - shortest) * lengths.unit())));
  const builder = new WorkloadBuilder();
  for (let row = 0; row < requests; row++) {
    const former = row < clients ? {} : { after: row - clients };
    const drawn = { promptTokens: draw(promptTokens), outputTokens: draw(outputTokens) };
    builder.add({ arrivalUs: 0, ...drawn, ...former });
  }
  return builder.build();
}
