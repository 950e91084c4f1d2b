import type { BatonConfig } from '@baton/config';
import type { EngineMessage, EnginePresence, EngineReport } from '@baton/contract';
import { channels, type Transport } from '@baton/transport';
import { randomUUID } from 'node:crypto';
import { hasServerPage } from './upstream-families';

/** Time after which an engine that has not answered is shown as it was last announced, in ms. */
const ANSWER_WITHIN_MS = 1_000;
/** Longer than a worker waits for its server. */
const SERVER_WITHIN_MS = 3_000;

export interface EngineReportsSource {
  readonly config: BatonConfig;
  readonly transport: Transport;
}

/** The numbers of these engines now; of an engine that does not answer, the known ones. */
export async function askEngines(
  engines: readonly EnginePresence[],
  { config, transport }: EngineReportsSource,
): Promise<EngineReport[]> {
  const withServer = engines.some(({ stage }) => hasServerPage(config, stage));
  const withinMs = withServer ? SERVER_WITHIN_MS : ANSWER_WITHIN_MS;
  const ids = engines.map(({ engineId }) => engineId);
  const reports = await requestReports(ids, transport, withinMs).catch(() => new Map());
  return engines.map((presence) => reports.get(presence.engineId) ?? { presence, page: '' });
}

async function requestReports(
  engineIds: readonly string[],
  { bus, isConnected }: Transport,
  withinMs: number,
): Promise<ReadonlyMap<string, EngineReport>> {
  const reports = new Map<string, EngineReport>();
  if (!isConnected || engineIds.length === 0) return reports;
  const replyTo = channels.replies(randomUUID());
  let onAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (onAll = resolve));
  const unsubscribe = await bus.subscribe(replyTo, (payload) => {
    const report = JSON.parse(payload.toString()) as EngineReport;
    reports.set(report.presence.engineId, report);
    if (reports.size === engineIds.length) onAll();
  });
  const timer = setTimeout(onAll, withinMs);
  try {
    const message: EngineMessage = { kind: 'tell-metrics', replyTo };
    const payload = Buffer.from(JSON.stringify(message));
    for (const engineId of engineIds) bus.publish(channels.engine(engineId), payload);
    await all;
  } finally {
    clearTimeout(timer);
    await unsubscribe();
  }
  return reports;
}
