import { LoopLag } from '@baton/clock';
import type { EnginePresence } from '@baton/contract';
import { type EngineMetricsSource, registerEngineMetrics } from '@baton/telemetry';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Interval of prom-client's samples in ms. Each one wakes an idle process; `LoopLag` is finer. */
const OWN_SAMPLING_MS = 1_000;

/** What a worker process shows of itself over HTTP. */
export interface WorkerProbe {
  engines(): readonly EnginePresence[];
  metrics(): Promise<string>;
}

export const WORKER_PROBE = Symbol('worker probe');

export interface ProbeSource extends EngineMetricsSource {
  /** What the page becomes before it is shown. */
  readonly around: (page: string) => Promise<string>;
}

/** The numbers of this process's engines, its event loop and its memory. */
export function workerProbe(
  engines: () => readonly EnginePresence[],
  metrics: ProbeSource,
): WorkerProbe {
  const registry = new Registry();
  registerEngineMetrics(registry, metrics);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: OWN_SAMPLING_MS });
  const lag = new LoopLag();
  lag.start();
  const gauge: Gauge = new Gauge({
    name: 'baton:event_loop_lag_seconds',
    help: 'How late the event loop of this process ran its timers since the last scrape, 99th percentile.',
    registers: [registry],
    collect: () => gauge.set(lag.takeP99Ms() / 1_000),
  });
  return { engines, metrics: async () => metrics.around(await registry.metrics()) };
}
