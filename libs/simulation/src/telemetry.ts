import type { SeriesRecord } from '@baton/analysis';
import type { Micros } from '@baton/kernel';
import type { EngineWatcher, Fullness, VirtualEngine } from './virtual-engine';

/** Samples kept. At twice as many, the interval doubles and every second sample is dropped. */
const MOST_SAMPLES = 512;
const FIRST_INTERVAL_US = 10_000;
const GAUGES = ['running', 'waiting', 'fetching', 'kvUsage', 'heldBlocks'] as const;

type Gauge = (typeof GAUGES)[number];

/**
 * Samples the gauges of every engine at equal intervals in constant memory: the interval begins
 * with 10 ms and doubles whenever there are too many samples. An engine is read before anything
 * happens to it, for all samples since the last reading: it is brought to the instant of each while
 * its steps follow each other by themselves. Otherwise nothing changes in between.
 */
export class Telemetry implements EngineWatcher {
  private intervalUs: Micros = FIRST_INTERVAL_US;
  private samples = 0;
  private readonly columns: Readonly<Record<Gauge, Float32Array>>;
  private readonly usageMax: Float64Array;
  /** Number of samples of each engine; Infinity once it is gone. */
  private readonly read: Float64Array;

  constructor(private readonly mostEngines: number) {
    const column = (): Float32Array => new Float32Array(mostEngines * 2 * MOST_SAMPLES);
    this.columns = {
      running: column(),
      waiting: column(),
      fetching: column(),
      kvUsage: column(),
      heldBlocks: column(),
    };
    this.usageMax = new Float64Array(mostEngines);
    this.read = new Float64Array(mostEngines);
  }

  get nextUs(): Micros {
    return this.samples * this.intervalUs;
  }

  /** The next sample is due; nothing has happened at its instant yet. */
  sample(engines: readonly VirtualEngine[]): void {
    this.samples++;
    if (this.samples < 2 * MOST_SAMPLES) return;
    for (const engine of engines) this.onChange(engine);
    this.halve();
  }

  onJoin({ index }: VirtualEngine): void {
    this.read[index] = this.samples;
  }

  /** Something is about to happen to the engine. */
  onChange(engine: VirtualEngine): void {
    if (this.read[engine.index]! < this.samples) this.catchUp(engine);
  }

  onGone(engine: VirtualEngine): void {
    this.onChange(engine);
    this.read[engine.index] = Infinity;
  }

  /** How full an engine is over its samples, which are complete once there is a record. */
  fullnessOf(engine: number): Fullness {
    const meanOf = (gauge: Gauge): number => {
      let sum = 0;
      for (let i = 0; i < this.samples; i++) {
        sum += this.columns[gauge][engine * 2 * MOST_SAMPLES + i]!;
      }
      return sum / Math.max(1, this.samples);
    };
    return {
      runningMean: meanOf('running'),
      kvUsageMean: meanOf('kvUsage'),
      kvUsageMax: this.usageMax[engine]!,
    };
  }

  record(engines: readonly VirtualEngine[]): SeriesRecord {
    for (const engine of engines) this.onChange(engine);
    const { samples, intervalUs } = this;
    const dense = (from: Float32Array): Float32Array => {
      const to = new Float32Array(this.mostEngines * samples);
      for (let engine = 0; engine < this.mostEngines; engine++) {
        const start = engine * 2 * MOST_SAMPLES;
        to.set(from.subarray(start, start + samples), engine * samples);
      }
      return to;
    };
    const { running, waiting, fetching, kvUsage, heldBlocks } = this.columns;
    return {
      startUs: 0,
      intervalUs,
      samples,
      running: dense(running),
      waiting: dense(waiting),
      fetching: dense(fetching),
      kvUsage: dense(kvUsage),
      heldBlocks: dense(heldBlocks),
    };
  }

  private catchUp(engine: VirtualEngine): void {
    const { index } = engine;
    const start = index * 2 * MOST_SAMPLES;
    const { samples, intervalUs } = this;
    let from = this.read[index]!;
    this.read[index] = samples;
    while (from < samples) {
      const to = engine.isLeaping ? from + 1 : samples;
      this.fill(engine, { from: start + from, to: start + to, atUs: from * intervalUs });
      from = to;
    }
  }

  private fill(engine: VirtualEngine, span: { from: number; to: number; atUs: Micros }): void {
    const { running, waiting, fetching, kvUsage, heldBlocks } = this.columns;
    engine.engine.advanceTo(span.atUs);
    const now = engine.engine.gauges();
    for (let at = span.from; at < span.to; at++) {
      running[at] = now.running;
      waiting[at] = now.waiting + now.deferred;
      fetching[at] = now.deferred;
      kvUsage[at] = now.kvUsage;
      heldBlocks[at] = now.heldBlocks;
    }
    if (now.kvUsage > this.usageMax[engine.index]!) this.usageMax[engine.index] = now.kvUsage;
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
    for (let engine = 0; engine < this.mostEngines; engine++) {
      if (this.read[engine] !== Infinity) this.read[engine] = MOST_SAMPLES;
    }
  }
}
