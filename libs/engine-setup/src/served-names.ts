import type { BatonConfig } from '@baton/config';

/** The names of the model for clients: the first stands in answers, the others only in requests. */
export type ServedNames = readonly [string, ...string[]];

/**
 * As vLLM's `--served-model-name`: the name given as model where none is set, each name once
 * (`vllm/config/model.py`, `get_served_model_name`, and `vllm/entrypoints/openai/models`).
 */
export function servedNamesOf({
  servedModelName,
  model,
}: Pick<BatonConfig, 'servedModelName' | 'model'>): ServedNames {
  const [first = model, ...others] = new Set(servedModelName);
  return [first, ...others];
}
