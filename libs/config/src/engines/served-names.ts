import type { BatonConfig } from '../config';

/** The names of the model for clients. Answers have the first; requests can use any. */
export type ServedNames = readonly [string, ...string[]];

/**
 * The rule of vLLM's `--served-model-name`: by default the name of the model, each name once
 * (`vllm/config/model.py`, `get_served_model_name`, and `vllm/entrypoints/openai/models`).
 */
export function servedNamesOf({
  servedModelName,
  model,
}: Pick<BatonConfig, 'servedModelName' | 'model'>): ServedNames {
  const [first = model, ...others] = new Set(servedModelName);
  return [first, ...others];
}
