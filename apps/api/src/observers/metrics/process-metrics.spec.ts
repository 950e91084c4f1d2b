import { exposed, familiesOf, type MetricFamily } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Listeners } from '../../http/listeners';
import type { LiveSequences } from '../port/state';
import { ProcessMetrics } from './process-metrics';

const LISTENERS = {
  arrivals: { accepted: 0, waits: { snapshot: () => ({ le: [], counts: [], sum: 0, count: 0 }) } },
} as unknown as Listeners;

/** Of a process with `size` sequences and a recent pause of `latenessMs`. */
function familiesAt(latenessMs: number, size = 0): Promise<MetricFamily[]> {
  const processClock = { latenessMs: () => latenessMs, loopLagMs: () => 0 };
  const transport = { processClock } as unknown as Transport;
  const registry = new Registry();
  new ProcessMetrics(registry, LISTENERS, transport, { size } as LiveSequences);
  return familiesOf(registry);
}

describe('the metrics of API processes', () => {
  it('have the longest recent pause, which lowers the limit of requests', async () => {
    expect(await exposed([await familiesAt(1_500)])).toContain('\nbaton:api_starved_seconds 1.5\n');
  });

  it('have the worst pause and the sum of sequences of those that share a port', async () => {
    const all = await Promise.all([familiesAt(100, 1), familiesAt(1_500, 2), familiesAt(200, 3)]);
    const page = await exposed(all);
    expect(page).toContain('\nbaton:api_starved_seconds 1.5\n');
    expect(page).toContain('\nbaton:api_live_sequences 6\n');
  });

  it('have the names of Prometheus’ client libraries', async () => {
    const names = (await familiesAt(0)).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'process_cpu_seconds_total',
        'process_resident_memory_bytes',
        'process_virtual_memory_bytes',
        'process_start_time_seconds',
        'process_open_fds',
        'process_max_fds',
      ]),
    );
  });

  it('have the start of the first of several processes', async () => {
    const families = await familiesAt(0);
    const [start] = families.filter(({ name }) => name === 'process_start_time_seconds');
    const earlier = { ...start!, values: [{ labels: {}, value: 7 }] };
    const page = await exposed([families, [earlier]]);
    expect(page).toContain('\nprocess_start_time_seconds 7\n');
  });
});
