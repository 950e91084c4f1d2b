import { type Micros, secondsToUs } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';
import type { Capacities, EngineCapacity } from './capacity';
import { cheapestPath, indexOfLeast } from './cheapest-path';
import { type TraceColumns, WindowCounts } from './window-counts';

export interface ForesightOptions {
  readonly windowUs: Micros;
  readonly capacities: Capacities;
  readonly ttftSeconds: number;
  /** Objective of the mean gap between tokens. */
  readonly itlSeconds: number;
  /** Maximum number of engines of each role. */
  readonly max: Topology;
  /** Share of attainable prompts that may be late beyond those with the most engines. */
  readonly late: number;
  /** Start-up time of an engine before it takes work. */
  readonly startupUs: Micros;
}

/**
 * Share of the TTFT objective that waiting and prompt may take; the rest covers parts that the
 * model ignores: transfer, first decode step, and prompts that share a step.
 */
const TTFT_SHARE = 0.9;

/**
 * The fewest engines over time with which the requests of a trace keep their objectives in every
 * burst. Prefill is a first come first served queue of the prompts, with the cheapest path through
 * its late prompts. Decode is the sum of the engine shares that the sequences under way take at the
 * pace of the objective. An aggregated engine does one after the other. Cached prompts are unknown.
 * A request that no idle engine serves in time counts as work, but not as late.
 */
export function foresight(trace: TraceColumns, options: ForesightOptions): WindowCounts {
  const { prefill, decode, aggregated } = options.capacities;
  const { max } = options;
  const empty = new Array<number>(windowsOf(trace, options)).fill(0);
  const prompts = (one: EngineCapacity | undefined, most: number): number[] =>
    one === undefined ? empty : prefillCounts(trace, { ...options, one, most });
  const outputs = (one: EngineCapacity | undefined): number[] =>
    one === undefined ? empty : decodeCounts(trace, { ...options, one });
  const [p, d] = [prompts(prefill, max.prefill), outputs(decode)];
  const [first, then] = [prompts(aggregated, max.aggregated), outputs(aggregated)];
  const windows = empty.map((_none, i) => {
    return { prefill: p[i]!, decode: d[i]!, aggregated: first[i]! + then[i]! };
  });
  return new WindowCounts(options.windowUs, windows);
}

/** Windows with arrivals, and those in which the last outputs end. */
function windowsOf({ arrivalUs }: TraceColumns, { windowUs }: ForesightOptions): number {
  const lastUs = arrivalUs.length === 0 ? 0 : arrivalUs[arrivalUs.length - 1]!;
  return Math.floor(lastUs / windowUs) + 1;
}

type Role = ForesightOptions & { readonly one: EngineCapacity };

function prefillCounts(trace: TraceColumns, role: Role & { readonly most: number }): number[] {
  const { one, most, windowUs, late, startupUs } = role;
  const windows = windowsOf(trace, role);
  const queue = new PromptQueue(trace, one, secondsToUs(role.ttftSeconds) * TTFT_SHARE);
  const lates = Array.from({ length: most }, (_none, i) =>
    queue.late(i + 1, { windows, windowUs }),
  );
  return cheapestPath(lates, {
    mostLate: sum(lates[most - 1]!) + late * queue.attainable,
    startupWindows: startupUs / windowUs,
  });
}

/** Prompts that wait for the first free rank of an engine, in order of arrival. */
class PromptQueue {
  /** Prompts that an idle engine serves in time. */
  readonly attainable: number;
  /** By row: time of the prompt alone, and its share of the time of a rank with full steps. */
  private readonly aloneUs: Float64Array;
  private readonly shareUs: Float64Array;
  private readonly ranks: number;

  constructor(
    private readonly trace: TraceColumns,
    one: EngineCapacity,
    private readonly limitUs: number,
  ) {
    const { promptTokens } = trace;
    const { ranks, ofRank } = one;
    this.ranks = ranks;
    this.aloneUs = new Float64Array(promptTokens.length);
    this.shareUs = new Float64Array(promptTokens.length);
    for (let row = 0; row < promptTokens.length; row++) {
      const tokens = promptTokens[row]!;
      this.aloneUs[row] = secondsToUs(ofRank.ttftSeconds(tokens));
      this.shareUs[row] = secondsToUs(tokens / ofRank.promptTokensPerSecond(tokens));
    }
    this.attainable = this.aloneUs.filter((us) => us <= limitUs).length;
  }

  /** Attainable prompts that are late with this many engines, by the window of their arrival. */
  late(
    engines: number,
    { windows, windowUs }: { readonly windows: number; readonly windowUs: Micros },
  ): Float64Array {
    const { arrivalUs } = this.trace;
    const freeUs = new Float64Array(engines * this.ranks);
    const late = new Float64Array(windows);
    for (let row = 0; row < arrivalUs.length; row++) {
      const rank = indexOfLeast(freeUs);
      const startUs = Math.max(arrivalUs[row]!, freeUs[rank]!);
      freeUs[rank] = startUs + this.shareUs[row]!;
      const aloneUs = this.aloneUs[row]!;
      const isLate = startUs + aloneUs - arrivalUs[row]! > this.limitUs;
      if (isLate && aloneUs <= this.limitUs) late[Math.floor(arrivalUs[row]! / windowUs)]! += 1;
    }
    return late;
  }
}

function decodeCounts(trace: TraceColumns, role: Role): number[] {
  const { windowUs } = role;
  const most = new Float64Array(windowsOf(trace, role));
  let load = 0;
  let window = 0;
  for (const { atUs, share } of sharesOver(trace, role)) {
    const at = Math.floor(atUs / windowUs);
    // A sequence that continues into the next window counts in both.
    for (; window < at && window + 1 < most.length; most[++window] = load);
    load += share;
    if (at < most.length) most[at] = Math.max(most[at]!, load);
  }
  // Adding and removing shares leaves rounding errors.
  return Array.from(most, (engines) => Math.ceil(engines - 1e-6));
}

/** Instants at which sequences begin and stop using their share of an engine, ascending. */
function sharesOver(
  { arrivalUs, promptTokens, outputTokens }: TraceColumns,
  { one, itlSeconds }: Role,
): { readonly atUs: Micros; readonly share: number }[] {
  const events: { readonly atUs: Micros; readonly share: number }[] = [];
  for (let row = 0; row < arrivalUs.length; row++) {
    const context = promptTokens[row]! + outputTokens[row]! / 2;
    const sequences = one.sequencesWithin(itlSeconds, context);
    const fromUs = arrivalUs[row]! + secondsToUs(one.ttftSeconds(promptTokens[row]!));
    const lastsUs = secondsToUs(outputTokens[row]! * one.itlSeconds(sequences, context));
    events.push({ atUs: fromUs, share: 1 / sequences });
    events.push({ atUs: fromUs + lastsUs, share: -1 / sequences });
  }
  return events.sort((a, b) => a.atUs - b.atUs);
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
