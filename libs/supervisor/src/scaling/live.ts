import { type BatonConfig, configuredAutoscaler } from '@baton/config';
import { parseTopology, type PolicyFault, liveWatch } from '@baton/policies';
import { baseUrl } from '../readiness';
import type { LiveMembership } from '@baton/engine-host';
import { LiveAutoscaler } from './live-autoscaler';
import { fetchPage, readPage } from './scrape';

export interface LiveParts {
  readonly membership: LiveMembership;
  readonly say: (sentence: string) => void;
  /** A user's own policy made no decision. */
  readonly onPolicyFault: (fault: PolicyFault) => void;
}

/**
 * The configured autoscaler of a live cluster that scrapes the API's own metrics.
 *
 * @throws UsageError
 */
export function liveAutoscaler(
  config: BatonConfig,
  { membership, say, onPolicyFault }: LiveParts,
): LiveAutoscaler {
  const { create, intervalUs } = configuredAutoscaler(config, parseTopology(config.topology))!;
  const url = baseUrl(config);
  return new LiveAutoscaler({
    config,
    autoscaler: create(liveWatch(onPolicyFault)),
    intervalUs,
    membership,
    say,
    scrape: async () => readPage(await fetchPage(config, url)),
  });
}
