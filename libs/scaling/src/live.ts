import type { BatonConfig } from '@baton/config';
import { parseTopology } from '@baton/placement';
import { baseUrl } from '@baton/supervisor';
import type { LiveMembership } from '@baton/worker';
import { configuredAutoscaler } from './configured-autoscaler';
import { LiveAutoscaler } from './live-autoscaler';
import { fetchPage, readPage } from './scrape';

export interface LiveParts {
  readonly membership: LiveMembership;
  readonly say: (sentence: string) => void;
}

/**
 * The configured autoscaler of a live cluster that scrapes the API's own metrics.
 *
 * @throws UsageError
 */
export function liveAutoscaler(
  config: BatonConfig,
  { membership, say }: LiveParts,
): LiveAutoscaler {
  const { create, intervalUs } = configuredAutoscaler(config, parseTopology(config.topology))!;
  const url = baseUrl(config);
  return new LiveAutoscaler({
    ...{ config, autoscaler: create(), intervalUs, membership, say },
    scrape: async () => readPage(await fetchPage(config, url)),
  });
}
