import type { EnginePresence } from '@baton/contract';
import type { DocumentPlace, Transport } from '@baton/transport';
import type { BatonConfig } from '../config/config';
import { executes } from '../upstream/executing';
import { engineLabels } from './engine-labels';
import { isSimulatedFamily } from './engine-metrics';
import { parsePage, type UpstreamPage, withUpstreamPages } from './upstream-page';

/** Where the metrics of an engine's server lie, for whoever is scraped. */
export function upstreamMetricsOf(engineId: string): DocumentPlace {
  return { collection: 'upstream-metrics', id: engineId };
}

export interface UpstreamMetricsSource {
  readonly config: BatonConfig;
  readonly transport: Transport;
}

/** A page of metrics of these engines with what the servers of those that execute count, where it would else show what is simulated here. */
export async function withUpstreamMetrics(
  page: string,
  engines: readonly EnginePresence[],
  { config, transport }: UpstreamMetricsSource,
): Promise<string> {
  if (config.upstreamMetricsInterval === 0) return page;
  const executing = engines.filter(({ stage }) => executes(config, stage));
  if (executing.length === 0) return page;
  const pages = await Promise.all(executing.map((engine) => pageOf(engine, transport)));
  return withUpstreamPages(page, pages, isSimulatedFamily);
}

/** Without numbers when the broker cannot be asked. */
async function pageOf(engine: EnginePresence, { documents }: Transport): Promise<UpstreamPage> {
  const text = await documents.get(upstreamMetricsOf(engine.engineId)).catch(() => undefined);
  return { labels: engineLabels(engine), families: text === undefined ? [] : parsePage(text) };
}
