import type { SeriesRecord } from '@baton/analysis';
import type { Micros } from '@baton/kernel';
import type { VirtualEngine } from './virtual-engine';

/** Samples kept; with twice as many the interval doubles and every second one goes. */
const MOST_SAMPLES = 512;
const FIRST_INTERVAL_US = 10_000;
const GAUGES = ['running', 'waiting', 'kvUsage', 'heldBlocks'] as const;

type Gauge = (typeof GAUGES)[number];

/**
 * Gauges of every engine at equal intervals, whatever a run lasts: it begins with 10 ms and doubles
 * the interval whenever there are too many samples. Constant memory, and at most twice
 * `MOST_SAMPLES` times log2 of the run's length in readings.
 */
export class Telemetry {
  private intervalUs: Micros = FIRST_INTERVAL_US;
  private samples = 0;
  private readonly columns: Readonly<Record<Gauge, Float32Array>>;
  private readonly usageMax: Float64Array;

  constructor(private readonly mostEngines: number) {
    const column = (): Float32Array => new Float32Array(mostEngines * 2 * MOST_SAMPLES);
    this.columns = {
      running: column(),
      waiting: column(),
      kvUsage: column(),
      heldBlocks: column(),
    };
    this.usageMax = new Float64Array(mostEngines);
  }

  get nextUs(): Micros {
    return this.samples * this.intervalUs;
  }

  sample(engines: readonly VirtualEngine[], nowUs: Micros): void {
    for (const { index, engine, state } of engines) {
      if (state === 'gone') continue;
      const now = engine.gauges(nowUs);
      const at = index * 2 * MOST_SAMPLES + this.samples;
      this.columns.running[at] = now.running;
      this.columns.waiting[at] = now.waiting + now.deferred;
      this.columns.kvUsage[at] = now.kvUsage;
      this.columns.heldBlocks[at] = now.heldBlocks;
      if (now.kvUsage > this.usageMax[index]!) this.usageMax[index] = now.kvUsage;
    }
    this.samples++;
    if (this.samples === 2 * MOST_SAMPLES) this.halve();
  }

  /** Mean and maximum of an engine's samples. */
  usageOf(engine: number): { mean: number; max: number } {
    let sum = 0;
    for (let i = 0; i < this.samples; i++) {
      sum += this.columns.kvUsage[engine * 2 * MOST_SAMPLES + i]!;
    }
    return { mean: sum / Math.max(1, this.samples), max: this.usageMax[engine]! };
  }

  record(): SeriesRecord {
    const { samples, intervalUs } = this;
    const dense = (from: Float32Array): Float32Array => {
      const to = new Float32Array(this.mostEngines * samples);
      for (let engine = 0; engine < this.mostEngines; engine++) {
        const start = engine * 2 * MOST_SAMPLES;
        to.set(from.subarray(start, start + samples), engine * samples);
      }
      return to;
    };
    const { running, waiting, kvUsage, heldBlocks } = this.columns;
    return {
      ...{ startUs: 0, intervalUs, samples },
      running: dense(running),
      waiting: dense(waiting),
      kvUsage: dense(kvUsage),
      heldBlocks: dense(heldBlocks),
    };
  }

  private halve(): void {
    for (const gauge of GAUGES) {
      const column = this.columns[gauge];
      for (let engine = 0; engine < this.mostEngines; engine++) {
        const start = engine * 2 * MOST_SAMPLES;
        for (let i = 0; i < MOST_SAMPLES; i++) column[start + i] = column[start + 2 * i]!;
      }
    }
    this.samples = MOST_SAMPLES;
    this.intervalUs *= 2;
  }
}
