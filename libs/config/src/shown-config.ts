import { type BatonConfig, configKeys, optionOf } from './config';
import { fileName } from './names';

/**
 * Options that are set, by their file names. Without the broker, which plays no role in virtual
 * time and may contain a password.
 */
export function shownConfig(config: BatonConfig): Record<string, unknown> {
  const shown = configKeys().filter(
    (key) => key !== 'redis' && config[key] !== undefined && !optionOf(key).hidden,
  );
  return Object.fromEntries(shown.map((key) => [fileName(key), config[key]]));
}
