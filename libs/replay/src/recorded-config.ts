import { flagName, isConfigKey, keyOf, type ResolvedConfig } from '@baton/config';
import type { RecordingHeader } from '@baton/workload';

/** A note on the source of a replay's configuration, and on changed values. */
export function noteOnConfig(
  { version, config: recorded }: RecordingHeader,
  { config, origins }: ResolvedConfig,
): string {
  const others = Object.entries(recorded).flatMap(([name, value]) => {
    const key = keyOf(name);
    if (!isConfigKey(key) || origins[key] === 'recording' || config[key] === value) return [];
    return `${flagName(key)} ${String(config[key])} (recorded: ${String(value)})`;
  });
  const but = others.length === 0 ? '' : `, except ${others.join(', ')}`;
  return `The configuration comes from the recording (baton ${version})${but}.`;
}
