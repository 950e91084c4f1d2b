import { ratePerSecond, clusterValue } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn } from '../sample';
import { busyEngines, type Capacities, type Load } from './capacity';

export interface SlaPlannerSpec {
  readonly kind: 'sla';
  readonly ttftSeconds: number;
  readonly itlSeconds: number;
}

/**
 * Dynamo's SLA planner (throughput-based): the next interval has the load of the last one (its
 * `constant` predictor), and correction factors are measured over expected latencies.
 *
 *     p_correction = TTFT / expected TTFT(isl)
 *     d_correction = ITL / expected ITL(batch, isl + osl / 2)
 *     P = ceil(rate × isl × min(1, p_correction) / prompt tokens per second of an engine)
 *     D = ceil(rate × osl / output tokens per second of an engine at ITL / d_correction)
 *
 * Source: "Planner Design" of Dynamo 0.9.0 (docs.nvidia.com/dynamo), steps 2 to 4; the capacities
 * come from step-time models instead of a profiling sweep. Aggregated engines get the sum of both.
 */
export class SlaPlanner implements ScalePolicy {
  constructor(
    private readonly spec: SlaPlannerSpec,
    private readonly capacities: Capacities,
  ) {}

  decide(context: ScaleContext): ScaleDecision {
    const load = lastLoad(context);
    if (load === undefined) return { counts: context.counts };
    const { ttft, itl } = this.corrections(load, context);
    const busy = busyEngines(load, this.capacities, this.spec.itlSeconds / itl);
    return {
      counts: {
        prefill: Math.ceil(busy.prefill * Math.min(1, ttft)),
        decode: Math.ceil(busy.decode),
        aggregated: Math.ceil(busy.aggregated),
      },
    };
  }

  private corrections(load: Load, context: ScaleContext): { ttft: number; itl: number } {
    const { prefill, decode, aggregated } = this.capacities;
    const ttft = clusterValue('ttft', 'prefill', context);
    const itl = clusterValue('itl', 'decode', context);
    const first = prefill ?? aggregated;
    const last = decode ?? aggregated;
    const role = decode === undefined ? 'aggregated' : 'decode';
    const engines = enginesIn(context.sample, role).filter(({ running }) => running > 0);
    if (first === undefined || last === undefined) return { ttft: 1, itl: 1 };
    const running = engines.reduce((sum, engine) => sum + engine.running, 0);
    const batch = Math.max(1, engines.length === 0 ? 1 : running / engines.length);
    const expectedItl = last.itlSeconds(batch, load.promptTokens + load.outputTokens / 2);
    return {
      ttft: ttft === undefined ? 1 : ttft / first.ttftSeconds(load.promptTokens),
      itl: itl === undefined ? 1 : itl / expectedItl,
    };
  }
}

/** Undefined: nothing has finished between the scrapes, so lengths are not known. */
function lastLoad(context: ScaleContext): Load | undefined {
  const requestsPerSecond = ratePerSecond(context, ({ arrived }) => arrived);
  const finished = ratePerSecond(context, (totals) => totals.finished);
  const prompt = ratePerSecond(context, ({ promptTokens }) => promptTokens);
  const output = ratePerSecond(context, ({ outputTokens }) => outputTokens);
  if (requestsPerSecond === undefined || prompt === undefined || output === undefined) {
    return undefined;
  }
  if (finished === undefined || finished === 0) return undefined;
  return {
    requestsPerSecond,
    promptTokens: prompt / finished,
    outputTokens: Math.max(1, output / finished),
  };
}
