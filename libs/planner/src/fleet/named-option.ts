import {
  type ConfigKey,
  configKeys,
  fileName,
  isConfigKey,
  keyOf,
  optionOf,
  readTyped,
  UsageError,
  whereIn,
} from '@baton/config';
import { nearestName } from '@baton/kernel';

/**
 * The option of this name with a value from YAML or JSON.
 *
 * @param where  text before the name in errors, such as `fleet.yaml: vary.`
 * @throws UsageError, one sentence that names the option
 */
export function readNamedOption(
  name: string,
  given: unknown,
  where: string,
): { readonly key: ConfigKey; readonly value: unknown } {
  const key = keyOf(name);
  if (!isConfigKey(key)) {
    const nearest = nearestName(name.replaceAll('-', '_'), configKeys().map(fileName));
    const hint = nearest === undefined ? '.' : `; did you mean '${nearest}'?`;
    throw new UsageError(`${where}${name} is not an option${hint}`);
  }
  const read = readTyped(optionOf(key), given);
  if (read.kind === 'value') return { key, value: read.value };
  throw new UsageError(`${where}${fileName(key)}${whereIn(read.path)} ${read.complaint}.`);
}
