import { type BatonConfig, UsageError } from '@baton/config';
import { secondsToUs } from '@baton/kernel';
import {
  ChangesError,
  checkChanges,
  parseChanges,
  parseTopology,
  type ScheduledChange,
} from '@baton/placement';

/**
 * What is to happen to the configured topology, in order of time; nothing when `changes` is not
 * set.
 *
 * @throws UsageError for a schedule that cannot be read or followed; TopologyError
 */
export function configuredChanges(config: BatonConfig): ScheduledChange[] {
  const { changes: text, topology, startupDuration } = config;
  if (text === undefined) return [];
  const engines = parseTopology(topology);
  try {
    const changes = parseChanges(text);
    checkChanges(engines, changes, secondsToUs(startupDuration));
    return changes;
  } catch (error) {
    if (error instanceof ChangesError) throw new UsageError(`changes: ${error.message}`);
    throw error;
  }
}
