import { renderNumbers } from '@baton/telemetry';
import { type BatonConfig, parseFakeMetrics } from '@baton/config';

const HEAD = { name: 'vllm:lora_requests_info', help: 'Running stats on lora requests.' };

/**
 * The LoRA adapters that fake metrics report as running and waiting; nothing without fake metrics.
 */
export function renderFakeLoras({ fakeMetrics, maxLoras }: BatonConfig): string {
  const loras = parseFakeMetrics(fakeMetrics)?.loras;
  if (loras === undefined) return '';
  const series = loras.map(({ running, waiting, timestamp }) => ({
    labels: {
      max_lora: String(maxLoras),
      waiting_lora_adapters: waiting,
      running_lora_adapters: running,
    },
    value: timestamp,
  }));
  return renderNumbers(HEAD, 'gauge', series);
}
