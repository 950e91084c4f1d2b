import { usToSeconds } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';
import { ratePerSecond, clusterValue } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { enginesIn } from '../sample';
import { busyEngines, type Capacities, type Load } from './capacity';
import { buildPredictor, type PredictorName } from './load-predictor';

export interface SlaPlannerSpec {
  readonly kind: 'sla';
  readonly ttftSeconds: number;
  readonly itlSeconds: number;
  readonly predictor: PredictorName;
}

const UNCORRECTED = { ttft: 1, itl: 1 };

/**
 * Dynamo's SLA planner (throughput-based). A predictor estimates the requests and lengths of the
 * next interval from the last ones; correction factors are measured over expected latencies.
 *
 *     p_correction = TTFT / expected TTFT(isl)
 *     d_correction = ITL / expected ITL(requests / D × duration / interval, isl + osl / 2)
 *     P = ceil(requests × isl / interval × min(1, p_correction) / prompt tokens per second)
 *     D = ceil(requests × osl / interval / output tokens per second at ITL / d_correction)
 *
 * Source: "Planner Design" of Dynamo 0.9.0 (docs.nvidia.com/dynamo), steps 2 to 4, and its
 * decode_planner.py; the capacities come from step-time models instead of a profiling sweep.
 * Aggregated engines get the sum of both. The formula has no head-room and ignores queues: the
 * correction of prefill cannot exceed 1.
 */
export class SlaPlanner implements ScalePolicy {
  private readonly requests;
  private readonly promptTokens;
  private readonly outputTokens;

  constructor(
    private readonly spec: SlaPlannerSpec,
    private readonly capacities: Capacities,
    private readonly options = { isCorrected: true },
  ) {
    this.requests = buildPredictor(spec.predictor);
    this.promptTokens = buildPredictor(spec.predictor);
    this.outputTokens = buildPredictor(spec.predictor);
  }

  decide(context: ScaleContext): ScaleDecision {
    return { counts: this.needed(context) ?? context.counts };
  }

  /** Undefined when nothing has finished between the scrapes. */
  needed(context: ScaleContext): Topology | undefined {
    const last = lastLoad(context);
    if (last === undefined) return undefined;
    const next = this.predicted(last, context);
    const { ttft, itl } = this.options.isCorrected ? this.corrections(last, context) : UNCORRECTED;
    const busy = busyEngines(next, this.capacities, this.spec.itlSeconds / itl);
    return {
      prefill: Math.ceil(busy.prefill * Math.min(1, ttft)),
      decode: Math.ceil(busy.decode),
      aggregated: Math.ceil(busy.aggregated),
    };
  }

  private predicted(last: Load, { sample, previous }: ScaleContext): Load {
    const seconds = usToSeconds(sample.atUs - previous!.atUs);
    this.requests.observe(last.requestsPerSecond * seconds);
    this.promptTokens.observe(last.promptTokens);
    this.outputTokens.observe(last.outputTokens);
    return {
      requestsPerSecond: this.requests.next() / seconds,
      promptTokens: Math.max(1, this.promptTokens.next()),
      outputTokens: Math.max(1, this.outputTokens.next()),
    };
  }

  private corrections(load: Load, context: ScaleContext): { ttft: number; itl: number } {
    const { prefill, decode, aggregated } = this.capacities;
    const ttft = clusterValue('ttft', 'prefill', context);
    const itl = clusterValue('itl', 'decode', context);
    const first = prefill ?? aggregated;
    const last = decode ?? aggregated;
    if (first === undefined || last === undefined) return UNCORRECTED;
    const role = decode === undefined ? 'aggregated' : 'decode';
    const engines = enginesIn(context.sample, role).filter(({ state }) => state === 'ready');
    const duration = clusterValue('e2el', role, context) ?? 0;
    const underWay = load.requestsPerSecond * duration;
    const batch = Math.max(1, underWay / Math.max(1, engines.length));
    const expectedItl = last.itlSeconds(batch, load.promptTokens + load.outputTokens / 2);
    return {
      ttft: ttft === undefined ? 1 : ttft / first.ttftSeconds(load.promptTokens),
      itl: itl === undefined ? 1 : itl / expectedItl,
    };
  }
}

/** Undefined when nothing has finished between the scrapes, so that lengths are unknown. */
export function lastLoad(context: ScaleContext): Load | undefined {
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
