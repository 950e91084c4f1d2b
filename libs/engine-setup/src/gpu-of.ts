import { findGpu, type Gpu, gpuFromFields } from '@baton/hardware';
import { givenFields } from './given-fields';

/**
 * The GPU that an option names: fields between braces, the path of a YAML or JSON file with them,
 * else a name of the catalogue.
 *
 * @throws UsageError when the file cannot be read; HardwareError for a name or fields of no use
 */
export function gpuOf(given: string): Gpu {
  const fields = givenFields('gpu', given);
  return fields === undefined ? findGpu(given) : gpuFromFields(fields.content, fields.where);
}
