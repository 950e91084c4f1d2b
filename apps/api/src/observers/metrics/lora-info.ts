import type { BatonConfig } from '@baton/config';
import { renderNumbers } from '@baton/telemetry';
import type { EnginePresence } from '@baton/contract';

const HEAD = { name: 'vllm:lora_requests_info', help: 'Running stats on lora requests.' };

/**
 * The LoRA adapters that run and wait now, over all engines, in vLLM's form: labels, with the time
 * as the value. Empty without adapters.
 */
export function renderLoraInfo(
  engines: readonly EnginePresence[],
  { enableLora, loraModules, maxLoras }: BatonConfig,
): string {
  if (!enableLora && loraModules.length === 0) return '';
  const namesOf = (which: 'running' | 'waiting'): string[] => [
    ...new Set(engines.flatMap(({ gauges }) => gauges.adapters?.[which] ?? [])),
  ];
  const running = namesOf('running').sort();
  const waiting = namesOf('waiting').filter((name) => !running.includes(name));
  const labels = {
    max_lora: String(maxLoras),
    waiting_lora_adapters: waiting.sort().join(','),
    running_lora_adapters: running.join(','),
  };
  return renderNumbers(HEAD, 'gauge', [{ labels, value: Date.now() / 1_000 }]);
}
