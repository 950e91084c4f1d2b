/**
 * One option has four names: `maxModelLen` in code, `max_model_len` in files, `--max-model-len`,
 * `BATON_MAX_MODEL_LEN`.
 */
export function fileName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function flagName(key: string): string {
  return `--${fileName(key).replaceAll('_', '-')}`;
}

export function envName(key: string): string {
  return `BATON_${fileName(key).toUpperCase()}`;
}

/** `tensor-parallel-size` and `tensor_parallel_size` are the same name, as in vLLM. */
export function keyOf(name: string): string {
  return name
    .replaceAll('-', '_')
    .replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
