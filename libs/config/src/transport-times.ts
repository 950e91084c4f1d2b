import type { TransportTimes } from '@baton/transport';
import type { BatonConfig } from './config';

const MS = 1_000;

/** The times of the transport that options set. */
export function transportTimes(config: BatonConfig): Partial<TransportTimes> {
  return {
    lockMs: config.lockDuration * MS,
    lockCeilingMs: Math.max(config.lockDuration, config.lockDurationMax) * MS,
    lockRenewMs: config.lockRenewInterval * MS,
    stalledCheckMs: config.stalledInterval * MS,
    silenceMs: config.brokerSilentAfter * MS,
    callDeadlineMs: config.brokerCallTimeout * MS,
    latenessHalfLifeMs: config.latenessHalfLife * MS,
  };
}
