import type { BatonConfig } from '@baton/config';
import type { EngineMessage, EnginePresence, EngineReport } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import { channels, jsonListener, type Transport } from '@baton/transport';
import { randomUUID } from 'node:crypto';
import { hasServerPage } from './upstream-families';

/**
 * Time after which an engine that has not answered is shown as it was last announced, in awake ms:
 * after a pause of this process the answers are there, unread.
 */
const ANSWER_WITHIN_MS = 1_000;
/** Longer than a worker waits for its server. */
const SERVER_WITHIN_MS = 3_000;

export interface EngineReportsSource {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly log: Pick<Logger, 'warn'>;
}

/** The numbers of these engines now; of an engine that does not answer, the known ones. */
export async function askEngines(
  engines: readonly EnginePresence[],
  { config, transport, log }: EngineReportsSource,
): Promise<EngineReport[]> {
  const withServer = engines.some(({ stage }) => hasServerPage(config, stage));
  const withinMs = withServer ? SERVER_WITHIN_MS : ANSWER_WITHIN_MS;
  const ids = engines.map(({ engineId }) => engineId);
  const reports = await requestReports(ids, { transport, log }, withinMs).catch(() => new Map());
  return engines.map((presence) => reports.get(presence.engineId) ?? { presence, page: '' });
}

async function requestReports(
  engineIds: readonly string[],
  { transport: { bus, isConnected, processClock }, log }: Omit<EngineReportsSource, 'config'>,
  withinMs: number,
): Promise<ReadonlyMap<string, EngineReport>> {
  const reports = new Map<string, EngineReport>();
  if (!isConnected || engineIds.length === 0) return reports;
  const replyTo = channels.replies(randomUUID());
  let onAll: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (onAll = resolve));
  const unsubscribe = await bus.subscribe(
    replyTo,
    jsonListener<EngineReport>(log, (report) => {
      reports.set(report.presence.engineId, report);
      if (reports.size === engineIds.length) onAll();
    }),
  );
  const settle = processClock.whileAwaited(
    (awakeMs, beganMs) => beganMs + withinMs - awakeMs,
    () => onAll(),
  );
  try {
    const message: EngineMessage = { kind: 'tell-metrics', replyTo };
    const payload = Buffer.from(JSON.stringify(message));
    for (const engineId of engineIds) bus.publish(channels.engine(engineId), payload);
    await all;
  } finally {
    settle();
    await unsubscribe();
  }
  return reports;
}
