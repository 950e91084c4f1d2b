import { type Micros, usToSeconds } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';
import { busyEngines, type Capacities } from './capacity';
import { type TraceColumns, WindowCounts } from './window-counts';

export interface DemandOptions {
  readonly windowUs: Micros;
  readonly capacities: Capacities;
  /** Objective of the mean gap between tokens. */
  readonly itlSeconds: number;
  /** Share of an engine's capacity that a load may use, above 0, up to 1. */
  readonly utilisation: number;
}

/**
 * Engines that a trace needs in each window: `busyEngines` of the requests that arrive in it, over
 * the utilisation, rounded up. Cached prompts are unknown, so prefill can need less; the output of
 * a request counts in the window of its arrival.
 */
export function demandCurve(trace: TraceColumns, options: DemandOptions): WindowCounts {
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
  return new WindowCounts(windowUs, windows);
}
