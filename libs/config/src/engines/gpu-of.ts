import { findGpu, type Gpu, gpuFromFields } from '@baton/hardware';
import { givenFields } from './given-fields';

/**
 * The GPU of an option: fields between braces, the path of a YAML or JSON file with them, or a name
 * of the catalogue.
 *
 * @throws UsageError when the file cannot be read; HardwareError for an unknown name or invalid
 * fields
 */
export function gpuOf(given: string): Gpu {
  const fields = givenFields('gpu', given);
  return fields === undefined ? findGpu(given) : gpuFromFields(fields.content, fields.where);
}
