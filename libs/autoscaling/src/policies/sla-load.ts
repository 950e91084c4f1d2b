import { type Micros, secondsToUs } from '@baton/kernel';
import type { EngineRole, Topology } from '@baton/placement';
import { clusterValue, ratePerSecond } from '../metrics';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { type ClusterSample, type EngineSample, enginesIn } from '../sample';
import type { Capacities } from './capacity';
import { LoadLine } from './load-line';
import { SlaPlanner } from './sla-planner';

export interface SlaLoadSpec {
  readonly kind: 'sla-load';
  readonly ttftSeconds: number;
  readonly itlSeconds: number;
  /** Scrapes that the lines are fitted to. */
  readonly window: number;
  /** Percent of the load that one engine less could carry, 0..100: see the formula. */
  readonly sensitivity: number;
  /** Seconds between two lower bounds of the throughput-based planner. Zero: no bound. */
  readonly throughputSeconds: number;
}

type Step = -1 | 0 | 1;

/**
 * Dynamo's SLA planner (load-based): lines fitted to the last scrapes give the load at which a
 * latency reaches its objective.
 *
 *     TTFT = a × (active prompt tokens + isl) + b,  ITL = c × KV in use + d
 *     one engine more: the load of every engine is above the target
 *     one engine less: it is below target × (n - 1) / n × sensitivity / 100 in every engine
 *
 * Aggregated engines follow both lines: one more when either line requires it, one less when both
 * allow it. A role with an engine that starts is only observed. With `throughputSeconds` the
 * throughput-based planner sets lower bounds; like Dynamo it then has no correction factors.
 *
 * Source: "Planner Design" of Dynamo (docs.nvidia.com/dynamo), "Load-Based Scaling", and its
 * prefill_planner.py, decode_planner.py and agg_planner.py. There a scrape has latencies and tokens
 * of each engine; here it has the mean latencies of all and the requests of each, which count as
 * mean prompts. Of aggregated engines those that run count as decoding.
 */
export class SlaLoad implements ScalePolicy {
  private readonly ttft: LoadLine;
  private readonly itl: LoadLine;
  private readonly throughput: SlaPlanner;
  private bound: Topology = { prefill: 0, decode: 0, aggregated: 0 };
  private bounded: ClusterSample | undefined;
  /** Mean prompt of the requests that finished last. */
  private promptTokens: number | undefined;

  constructor(
    private readonly spec: SlaLoadSpec,
    capacities: Capacities,
  ) {
    this.ttft = new LoadLine(spec.window);
    this.itl = new LoadLine(spec.window);
    const { ttftSeconds, itlSeconds } = spec;
    const planner = { kind: 'sla', ttftSeconds, itlSeconds, predictor: 'constant' } as const;
    this.throughput = new SlaPlanner(planner, capacities, { isCorrected: false });
  }

  decide(context: ScaleContext): ScaleDecision {
    this.observe(context);
    this.raiseBound(context);
    const count = (role: EngineRole): number =>
      Math.max(this.bound[role], context.counts[role] + this.step(role, context));
    return {
      counts: {
        prefill: count('prefill'),
        decode: count('decode'),
        aggregated: count('aggregated'),
      },
    };
  }

  private observe(context: ScaleContext): void {
    const finished = ratePerSecond(context, (totals) => totals.finished) ?? 0;
    const prompt = ratePerSecond(context, (totals) => totals.promptTokens) ?? 0;
    if (finished > 0) this.promptTokens = prompt / finished;
    const prefills = readyIn(context.sample, 'prefill', 'aggregated');
    const ttft = clusterValue('ttft', 'prefill', context);
    if (ttft !== undefined && this.promptTokens !== undefined && prefills.length > 0) {
      const active = mean(prefills.map((engine) => this.activeTokens(engine, context)));
      this.ttft.observe(active + this.promptTokens, ttft);
    }
    const decodes = readyIn(context.sample, 'decode', 'aggregated');
    const itl = clusterValue('itl', 'decode', context);
    const kv = mean(decodes.map(({ kvUsage }) => kvUsage));
    if (itl !== undefined && kv > 0) this.itl.observe(kv, itl);
  }

  private raiseBound(context: ScaleContext): void {
    const { throughputSeconds } = this.spec;
    const everyUs: Micros = secondsToUs(throughputSeconds);
    const { sample } = context;
    if (throughputSeconds === 0) return;
    this.bounded ??= context.previous ?? sample;
    if (sample.atUs - this.bounded.atUs < everyUs) return;
    const needed = this.throughput.needed({ ...context, previous: this.bounded });
    this.bound = needed ?? this.bound;
    this.bounded = sample;
  }

  private step(role: EngineRole, context: ScaleContext): Step {
    const ready = readyIn(context.sample, role);
    if (ready.length === 0 || ready.length !== context.counts[role]) return 0;
    const prefill = role === 'decode' ? undefined : this.prefillStep(ready, context);
    const decode = role === 'prefill' ? undefined : this.decodeStep(ready);
    if (prefill === undefined || decode === undefined) return prefill ?? decode ?? 0;
    if (prefill > 0 || decode > 0) return 1;
    return prefill < 0 && decode < 0 ? -1 : 0;
  }

  private prefillStep(engines: readonly EngineSample[], context: ScaleContext): Step {
    const load = this.ttft.loadAt(this.spec.ttftSeconds) ?? 0;
    const target = load - (this.promptTokens ?? 0);
    return this.stepAt(
      target,
      engines.map((engine) => this.activeTokens(engine, context)),
    );
  }

  private decodeStep(engines: readonly EngineSample[]): Step {
    const target = this.itl.loadAt(this.spec.itlSeconds) ?? 0;
    return this.stepAt(
      target,
      engines.map(({ kvUsage }) => kvUsage),
    );
  }

  /** No step towards a target of zero: it is not known yet, or no load keeps the objective. */
  private stepAt(target: number, loads: readonly number[]): Step {
    if (target <= 0) return 0;
    if (loads.every((load) => load > target)) return 1;
    const engines = loads.length;
    const low = ((target * (engines - 1)) / engines) * (this.spec.sensitivity / 100);
    return loads.every((load) => load < low) ? -1 : 0;
  }

  /** Prompt tokens that the engine has to compute, with its share of those that wait in front. */
  private activeTokens({ role, running, waiting }: EngineSample, context: ScaleContext): number {
    const ready = readyIn(context.sample, role);
    const share = context.sample.queued[role] / ready.length;
    const prompts = waiting + share + (role === 'prefill' ? running : 0);
    return prompts * (this.promptTokens ?? 0);
  }
}

function readyIn(sample: ClusterSample, ...roles: readonly EngineRole[]): EngineSample[] {
  return roles.flatMap((role) => enginesIn(sample, role)).filter(({ state }) => state === 'ready');
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
