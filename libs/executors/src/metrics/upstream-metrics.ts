import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { EngineMessage, EnginePresence, UpstreamMetrics } from '@baton/contract';
import { engineLabels, isSimulatedFamily } from '@baton/telemetry';
import { channels, type Transport } from '@baton/transport';
import { executes } from '../server/executing';
import { parsePage, withUpstreamPages } from './upstream-page';

/**
 * Engines that have not answered by then have no numbers. Longer than a worker waits for a server.
 */
const TOLD_WITHIN_MS = 3_000;

export interface UpstreamMetricsSource {
  readonly config: BatonConfig;
  readonly transport: Transport;
}

/**
 * A metrics page of these engines on which the counters of upstream servers replace simulated ones.
 */
export async function withUpstreamMetrics(
  page: string,
  engines: readonly EnginePresence[],
  { config, transport }: UpstreamMetricsSource,
): Promise<string> {
  if (config.upstreamMetricsInterval === 0) return page;
  const executing = engines.filter(({ stage }) => executes(config, stage));
  if (executing.length === 0) return page;
  const ids = executing.map(({ engineId }) => engineId);
  const told = await toldBy(ids, transport).catch(() => new Map<string, string>());
  const pages = executing.map((engine) => ({
    labels: engineLabels(engine),
    families: parsePage(told.get(engine.engineId) ?? ''),
  }));
  return withUpstreamPages(page, pages, isSimulatedFamily);
}

async function toldBy(
  engineIds: readonly string[],
  { bus, isConnected }: Transport,
): Promise<ReadonlyMap<string, string>> {
  const told = new Map<string, string>();
  if (!isConnected) return told;
  const replyTo = channels.replies(randomUUID());
  let onAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (onAll = resolve));
  const unsubscribe = await bus.subscribe(replyTo, (payload) => {
    const { engineId, page } = JSON.parse(payload.toString()) as UpstreamMetrics;
    told.set(engineId, page);
    if (told.size === engineIds.length) onAll();
  });
  const timer = setTimeout(onAll, TOLD_WITHIN_MS);
  try {
    const message: EngineMessage = { kind: 'tell-metrics', replyTo };
    const payload = Buffer.from(JSON.stringify(message));
    for (const engineId of engineIds) bus.publish(channels.engine(engineId), payload);
    await all;
  } finally {
    clearTimeout(timer);
    await unsubscribe();
  }
  return told;
}
