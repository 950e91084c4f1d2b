import { mergePages } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { Listeners } from '../../http/listeners';
import { LoopMetrics } from './loop-metrics';

const LISTENERS = {
  arrivals: { accepted: 0, waits: { snapshot: () => ({ le: [], counts: [], sum: 0, count: 0 }) } },
} as unknown as Listeners;

function pageOf(latenessMs: number): string {
  const transport = { processClock: { latenessMs: () => latenessMs } } as unknown as Transport;
  return new LoopMetrics(LISTENERS, transport).render();
}

describe('baton:api_starved_seconds', () => {
  it('is the longest recent pause of the API process, which lowers its limit of requests', () => {
    expect(pageOf(1_500)).toContain('\nbaton:api_starved_seconds 1.5\n');
  });

  it('is that of the latest process when several share a port', () => {
    const page = mergePages([pageOf(100), pageOf(1_500), pageOf(200)]);
    expect(page).toContain('\nbaton:api_starved_seconds 1.5\n');
  });
});
