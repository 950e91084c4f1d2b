import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';

/**
 * The y of vLLM 0.y.
 *
 * @throws UsageError for anything else
 */
export function vllmMinorOf({ vllmVersion }: BatonConfig): number {
  const minor = /^0\.(\d+)(\.\d+)?$/.exec(vllmVersion)?.[1];
  if (minor !== undefined) return Number(minor);
  throw new UsageError(
    `vllm_version must be a version of vLLM such as 0.30, not '${vllmVersion}'.`,
  );
}
