import { type BatonConfig, parseFakeMetrics } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { familyOf, type MetricFamily } from '@baton/telemetry';

const HEAD = {
  name: 'vllm:lora_requests_info',
  help: 'Running stats on lora requests.',
  type: 'gauge',
} as const;

interface Loras {
  readonly running: string;
  readonly waiting: string;
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
}

/**
 * The LoRA adapters that run and wait over all engines, or by fake metrics, in vLLM's form: labels,
 * with the time as the value. Empty without adapters.
 */
export function loraFamilies(
  engines: readonly EnginePresence[],
  config: BatonConfig,
): MetricFamily[] {
  const loras = parseFakeMetrics(config.fakeMetrics)?.loras ?? lorasOf(engines, config);
  if (loras === undefined) return [];
  const samples = loras.map(({ running, waiting, timestamp }) => ({
    labels: {
      max_lora: String(config.maxLoras),
      waiting_lora_adapters: waiting,
      running_lora_adapters: running,
    },
    value: timestamp,
  }));
  return [familyOf(HEAD, samples)];
}

function lorasOf(
  engines: readonly EnginePresence[],
  { enableLora, loraModules }: BatonConfig,
): Loras[] | undefined {
  if (!enableLora && loraModules.length === 0) return undefined;
  const namesOf = (which: 'running' | 'waiting'): string[] => [
    ...new Set(engines.flatMap(({ gauges }) => gauges.adapters?.[which] ?? [])),
  ];
  const running = namesOf('running').sort();
  const waiting = namesOf('waiting').filter((name) => !running.includes(name));
  const timestamp = Date.now() / 1_000;
  return [{ running: running.join(','), waiting: waiting.sort().join(','), timestamp }];
}
