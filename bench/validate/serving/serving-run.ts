import { summarise } from '@baton/analysis';
import { simulate } from '@baton/cluster';
import { operatorFiles } from '@baton/config';
import { HardwareError, kvCapacityBlocks, schedulerDefaults } from '@baton/hardware';
import { RandomStream } from '@baton/kernel';
import { buildStepTimeModel } from '@baton/step-time';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { aggregatedScenario } from '../one-engine';
import type { ServingPoint } from './serving-point';

/** What Baton makes of a point. */
export interface ServingResult {
  readonly point: ServingPoint;
  readonly tpotMs: number;
  readonly ttftMs: number;
  /** How the step times were made. */
  readonly method: string;
}

const BLOCK_TOKENS = 16;
/** Requests per client, as InferenceX sends; the first of each is a burst. */
const ROUNDS = 10;
const REQUESTS_MIN = 16;
const REQUESTS_MAX = 4_096;

/**
 * Replays the closed loop on one of the engines, with its share of the clients; or says why not.
 */
export function runPoint(point: ServingPoint): ServingResult | string {
  const { placement, framework, mxfp4Activations } = point;
  try {
    const stepTime = buildStepTimeModel(
      { kind: 'auto', framework, mxfp4Activations },
      placement,
      operatorFiles(),
    );
    const query = { ...placement, gpuMemoryUtilization: 0.9, blockSize: BLOCK_TOKENS };
    const numBlocks = kvCapacityBlocks(query);
    const limits = schedulerDefaults(placement.gpu);
    const workload = closedLoop(point);
    const run = simulate(aggregatedScenario(workload, { stepTime, numBlocks, ...limits }));
    const { tpot_ms, ttft_ms } = summarise(run, { wallSeconds: NaN, seed: 0 });
    if (tpot_ms.mean === null || ttft_ms.mean === null) return 'no request completed';
    const method = stepTime.method ?? 'given';
    return { point, tpotMs: tpot_ms.mean, ttftMs: ttft_ms.mean, method };
  } catch (error) {
    if (error instanceof HardwareError) return error.message;
    throw error;
  }
}

/** As many clients as fall to one engine, each sending its next request when its last has ended. */
function closedLoop(point: ServingPoint): Workload {
  const { promptTokens, outputTokens, shortest } = point;
  const clients = Math.max(1, Math.round(point.concurrency / point.engines));
  const rounds = Math.max(REQUESTS_MIN, ROUNDS * clients);
  const requests = Math.max(clients, Math.min(REQUESTS_MAX, rounds));
  const lengths = RandomStream.root(0).stream('lengths');
  const draw = (tokens: number): number =>
    Math.max(2, Math.round(tokens * (shortest + (1 - shortest) * lengths.unit())));
  const builder = new WorkloadBuilder();
  for (let row = 0; row < requests; row++) {
    const former = row < clients ? {} : { after: row - clients };
    builder.add({
      ...{ arrivalUs: 0, promptTokens: draw(promptTokens), outputTokens: draw(outputTokens) },
      ...former,
    });
  }
  return builder.build();
}
