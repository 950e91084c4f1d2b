import { type Micros, usToSeconds } from '@baton/kernel';
import type { Topology } from '@baton/placement';
import { busyEngines, type Capacities } from './capacity';

/** The requests of a trace, one column each; arrivals in order. */
export interface TraceColumns {
  readonly arrivalUs: ArrayLike<number>;
  readonly promptTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
}

export interface DemandOptions {
  readonly windowUs: Micros;
  readonly capacities: Capacities;
  /** Objective of the mean gap between tokens. */
  readonly itlSeconds: number;
  /** Share of an engine's capacity that a load may use, above 0, up to 1. */
  readonly utilisation: number;
}

const NO_ENGINES: Topology = { prefill: 0, decode: 0, aggregated: 0 };

/**
 * Engines that a trace needs in each window of its time: what `busyEngines` says of the requests
 * that arrive in it, over the utilisation, rounded up. Cached prompts are not known, so prefill may
 * need less; the output of a request counts in the window of its arrival.
 */
export class DemandCurve {
  readonly windowUs: Micros;
  private readonly windows: readonly Topology[];

  constructor(trace: TraceColumns, options: DemandOptions) {
    this.windowUs = options.windowUs;
    this.windows = demands(trace, options);
  }

  get length(): number {
    return this.windows.length;
  }

  /** Of the window with this number; nothing behind the last arrival. */
  ofWindow(window: number): Topology {
    return this.windows[window] ?? NO_ENGINES;
  }

  /** The most of each role in the windows that a span of time touches. */
  most(fromUs: Micros, untilUs: Micros): Topology {
    const most = { prefill: 0, decode: 0, aggregated: 0 };
    const last = Math.min(this.windows.length - 1, Math.floor(untilUs / this.windowUs));
    for (let window = Math.floor(fromUs / this.windowUs); window <= last; window++) {
      const { prefill, decode, aggregated } = this.windows[window]!;
      most.prefill = Math.max(most.prefill, prefill);
      most.decode = Math.max(most.decode, decode);
      most.aggregated = Math.max(most.aggregated, aggregated);
    }
    return most;
  }
}

function demands(trace: TraceColumns, options: DemandOptions): Topology[] {
  const { windowUs, capacities, itlSeconds, utilisation } = options;
  const windows: Topology[] = [];
  let row = 0;
  const count = trace.arrivalUs.length;
  while (row < count) {
    const endUs = (windows.length + 1) * windowUs;
    let [requests, prompt, output] = [0, 0, 0];
    for (; row < count && trace.arrivalUs[row]! < endUs; row++) {
      requests++;
      prompt += trace.promptTokens[row]!;
      output += trace.outputTokens[row]!;
    }
    const load = {
      requestsPerSecond: requests / usToSeconds(windowUs),
      promptTokens: prompt / Math.max(1, requests),
      outputTokens: output / Math.max(1, requests),
    };
    const busy = busyEngines(load, capacities, itlSeconds);
    const needed = (engines: number): number => Math.ceil(engines / utilisation);
    windows.push({
      prefill: needed(busy.prefill),
      decode: needed(busy.decode),
      aggregated: needed(busy.aggregated),
    });
  }
  return windows;
}
