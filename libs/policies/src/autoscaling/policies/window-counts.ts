import type { Micros } from '@baton/kernel';
import type { Topology } from '../../placement/topology/topology';

/** The requests of a trace, one column each; arrivals in order. */
export interface TraceColumns {
  readonly arrivalUs: ArrayLike<number>;
  readonly promptTokens: ArrayLike<number>;
  readonly outputTokens: ArrayLike<number>;
}

const NO_ENGINES: Topology = { prefill: 0, decode: 0, aggregated: 0 };

/** Engines of each role in equal windows of time, from 0 on. */
export class WindowCounts {
  constructor(
    readonly windowUs: Micros,
    private readonly windows: readonly Topology[],
  ) {}

  get length(): number {
    return this.windows.length;
  }

  /** The engines of a window by its index. After the last window: none. */
  ofWindow(window: number): Topology {
    return this.windows[window] ?? NO_ENGINES;
  }

  /** The most engines of each role over the windows that a time span touches. */
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
