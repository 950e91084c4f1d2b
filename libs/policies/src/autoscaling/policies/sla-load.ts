import { type Micros, secondsToUs } from '@baton/kernel';
import type { EngineRole, Topology } from '../../placement/topology/topology';
import type { ScaleContext, ScaleDecision, ScalePolicy } from '../policy';
import { type ClusterSample, type EngineSample, enginesIn } from '../sample';
import type { Capacities, EngineCapacity, Load } from './capacity';
import { lastLoad, SlaPlanner } from './sla-planner';

export interface SlaLoadSpec {
  readonly kind: 'sla-load';
  readonly ttftSeconds: number;
  readonly itlSeconds: number;
  /** Percent of the room within an objective that fewer engines may use, 0..100. */
  readonly sensitivity: number;
  /** Seconds between two lower bounds of the throughput-based planner. Zero: no bound. */
  readonly throughputSeconds: number;
}

type Step = -1 | 0 | 1;

/**
 * Dynamo's SLA planner (load-based): the TTFT and ITL that the next request would get from each
 * engine, estimated from the engine's queue and batch.
 *
 *     TTFT = Σ step(chunk) over queued prompt tokens + isl, in chunks of max_num_batched_tokens
 *     ITL = step(sequences + 1, KV of running and queued sequences + KV of one)
 *     one engine more: the estimate of every engine is above the objective
 *     one engine less: with the work of every engine × N / (N - 1),
 *       TTFT - TTFT without a queue < (objective - TTFT without a queue) × sensitivity / 100
 *       ITL < objective × sensitivity / 100, and the KV fits
 *
 * In aggregated engines the chunks run beside the decoding sequences, and a decode step computes
 * sequences × isl / osl prompt tokens. An aggregated pool grows when either objective requires it
 * and shrinks when both allow it. A role with a starting engine does not change. With
 * `throughputSeconds` the throughput-based planner sets lower bounds; like Dynamo it then has no
 * correction factors.
 *
 * Source: ai-dynamo/dynamo, components/src/dynamo/planner/core: load_scaling.py
 * (`_scale_decision`, `_prefill_load_decision`, `_decode_load_decision`, `_agg_prefill_scaling`,
 * `_agg_decode_scaling`, with consolidation, as of commit 0c6da1ec) and perf_model
 * (`estimate_next_ttft`, `estimate_next_itl`, and the prompt tokens of a step in
 * `find_best_engine_agg_rps`). In Dynamo a performance model, tuned by past steps, estimates steps,
 * and engines report queued tokens. Here the step-time model estimates steps, and a queued request
 * counts as the mean prompt of the requests that finished last. Dynamo estimates every ITL with the
 * mean number of sequences; here it is the engine's own number, × N / (N - 1) with fewer engines.
 */
export class SlaLoad implements ScalePolicy {
  private readonly throughput: SlaPlanner;
  private bound: Topology = { prefill: 0, decode: 0, aggregated: 0 };
  private bounded: ClusterSample | undefined;
  /** Mean lengths of the requests that finished last. */
  private lengths: Load | undefined;

  constructor(
    private readonly spec: SlaLoadSpec,
    private readonly capacities: Capacities,
  ) {
    const { ttftSeconds, itlSeconds } = spec;
    const planner = { kind: 'sla', ttftSeconds, itlSeconds, predictor: 'constant' } as const;
    this.throughput = new SlaPlanner(planner, capacities, { isCorrected: false });
  }

  decide(context: ScaleContext): ScaleDecision {
    this.lengths = lastLoad(context) ?? this.lengths;
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

  private step(role: EngineRole, { sample, counts }: ScaleContext): Step {
    const { lengths, spec } = this;
    const capacity = this.capacities[role];
    const engines = enginesIn(sample, role).filter(({ state }) => state === 'ready');
    if (lengths === undefined || capacity === undefined || engines.length === 0) return 0;
    if (engines.length !== counts[role]) return 0;
    const share = sample.queued[role] / engines.length;
    const works = engines.map((engine) => workOf(engine, share, { capacity, lengths }));
    const after = works.map((work) => consolidated(work, engines.length));
    const ttft = (): Step =>
      stepOf(works.map(ttftSeconds), spec.ttftSeconds, () => this.keepsTtft(after));
    const itl = (): Step =>
      stepOf(works.map(itlSeconds), spec.itlSeconds, () => this.keepsItl(after));
    if (role === 'prefill') return ttft();
    if (role === 'decode') return itl();
    const both = [ttft(), itl()] as const;
    return both.includes(1) ? 1 : (Math.max(...both) as Step);
  }

  /** Whether queues take a small part of the TTFT. Fewer engines shorten no prompt's own time. */
  private keepsTtft(works: readonly Work[]): boolean {
    return works.every((work) => {
      const ownSeconds = ttftSeconds({ ...work, waiting: 0 });
      const room = (this.spec.ttftSeconds - ownSeconds) * this.share;
      return room > 0 && ttftSeconds(work) - ownSeconds < room;
    });
  }

  private keepsItl(works: readonly Work[]): boolean {
    const most = this.spec.itlSeconds * this.share;
    return works.every((work) => {
      const tokens = work.decodeContext + work.waiting * meanContext(work);
      return tokens < work.capacity.kvTokens && itlSeconds(work) < most;
    });
  }

  private get share(): number {
    return this.spec.sensitivity / 100;
  }
}

/** @param keepsWithFewer whether the objective holds with one engine less */
function stepOf(
  estimates: readonly number[],
  objective: number,
  keepsWithFewer: () => boolean,
): Step {
  if (estimates.every((seconds) => seconds > objective)) return 1;
  return estimates.length > 1 && keepsWithFewer() ? -1 : 0;
}

interface Facts {
  readonly capacity: EngineCapacity;
  readonly lengths: Load;
}

/** The work of one engine; of each rank, if it has several. */
interface Work extends Facts {
  /** Requests outside any batch, with its share of those in front of all engines. */
  readonly waiting: number;
  readonly decodeSeqs: number;
  /** Σ tokens in KV of the decoding sequences. */
  readonly decodeContext: number;
  readonly promptsDecodeBeside: boolean;
}

function workOf(engine: EngineSample, share: number, { capacity, lengths }: Facts): Work {
  const { role, running, waiting, kvUsage } = engine;
  const { ranks, ofRank } = capacity;
  const decodes = role === 'prefill' ? 0 : 1;
  return {
    capacity: ofRank,
    lengths,
    waiting: (waiting + share) / ranks,
    decodeSeqs: (decodes * running) / ranks,
    decodeContext: decodes * kvUsage * ofRank.kvTokens,
    promptsDecodeBeside: role === 'aggregated',
  };
}

/** The work of an engine when one of `engines` equal ones has left. */
function consolidated(work: Work, engines: number): Work {
  const factor = engines === 1 ? 1 : engines / (engines - 1);
  return {
    ...work,
    waiting: work.waiting * factor,
    decodeSeqs: work.decodeSeqs * factor,
    decodeContext: work.decodeContext * factor,
  };
}

/** Tokens in KV of a decoding sequence. */
function meanContext({ lengths, decodeSeqs, decodeContext }: Work): number {
  const { promptTokens, outputTokens } = lengths;
  return decodeSeqs > 0 ? decodeContext / decodeSeqs : promptTokens + outputTokens / 2;
}

/** TTFT of a request that enters now. */
function ttftSeconds({ capacity, lengths, waiting, decodeSeqs, decodeContext }: Work): number {
  const { promptTokens } = lengths;
  const { maxNumBatchedTokens } = capacity;
  const chunkSeconds = (prefillTokens: number): number =>
    capacity.stepSeconds({ prefillTokens, promptTokens, decodeSeqs, decodeContext });
  const tokens = (waiting + 1) * promptTokens;
  const full = Math.floor(tokens / maxNumBatchedTokens);
  const rest = tokens - full * maxNumBatchedTokens;
  const fullSeconds = full === 0 ? 0 : full * chunkSeconds(maxNumBatchedTokens);
  return fullSeconds + (rest === 0 ? 0 : chunkSeconds(rest));
}

/** Time between two tokens of a request that decodes from now on. */
function itlSeconds(work: Work): number {
  const { capacity, lengths, waiting, decodeSeqs, decodeContext } = work;
  const { promptTokens, outputTokens } = lengths;
  const sequences = decodeSeqs + waiting + 1;
  const prompts = work.promptsDecodeBeside ? (sequences * promptTokens) / outputTokens : 0;
  return capacity.stepSeconds({
    prefillTokens: Math.min(prompts, capacity.maxNumBatchedTokens),
    promptTokens,
    decodeSeqs: sequences,
    decodeContext: decodeContext + (waiting + 1) * meanContext(work),
  });
}
