import { secondsToUs } from '@baton/kernel';
import {
  ChangesError,
  checkChanges,
  parseChanges,
  parseTopology,
  type ScheduledChange,
} from '@baton/policies';
import type { BatonConfig } from './config';
import { startupSeconds } from './startup';
import { UsageError } from './usage-error';

/**
 * The configured changes of the topology, in order of time; empty when `changes` is not set.
 *
 * @throws UsageError for an invalid or impossible schedule; TopologyError
 */
export function configuredChanges(config: BatonConfig): ScheduledChange[] {
  const { changes: text, topology } = config;
  if (text === undefined) return [];
  const engines = parseTopology(topology);
  try {
    const changes = parseChanges(text);
    checkChanges(engines, changes, secondsToUs(startupSeconds(config)));
    return changes;
  } catch (error) {
    if (error instanceof ChangesError) throw new UsageError(`changes: ${error.message}`);
    throw error;
  }
}
