import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { EngineMessage, EnginePresence, UpstreamMetrics } from '@baton/contract';
import { engineLabels, isSimulatedFamily, parsePage } from '@baton/telemetry';
import { channels, type Transport } from '@baton/transport';
import { executes } from '../server/executing';
import { withUpstreamPages } from './upstream-page';

/**
 * Time after which an engine that has not answered is left out of the page, in ms. Longer than a
 * worker waits for its server.
 */
const ANSWER_WITHIN_MS = 3_000;

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
  const texts = await requestPages(ids, transport).catch(() => new Map<string, string>());
  const pages = executing.map((engine) => ({
    labels: engineLabels(engine),
    families: parsePage(texts.get(engine.engineId) ?? ''),
  }));
  return withUpstreamPages(page, pages, isSimulatedFamily);
}

async function requestPages(
  engineIds: readonly string[],
  { bus, isConnected }: Transport,
): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  if (!isConnected) return pages;
  const replyTo = channels.replies(randomUUID());
  let onAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (onAll = resolve));
  const unsubscribe = await bus.subscribe(replyTo, (payload) => {
    const { engineId, page } = JSON.parse(payload.toString()) as UpstreamMetrics;
    pages.set(engineId, page);
    if (pages.size === engineIds.length) onAll();
  });
  const timer = setTimeout(onAll, ANSWER_WITHIN_MS);
  try {
    const message: EngineMessage = { kind: 'tell-metrics', replyTo };
    const payload = Buffer.from(JSON.stringify(message));
    for (const engineId of engineIds) bus.publish(channels.engine(engineId), payload);
    await all;
  } finally {
    clearTimeout(timer);
    await unsubscribe();
  }
  return pages;
}
