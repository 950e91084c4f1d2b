/** Accepts `--max_model_len` for `--max-model-len`, as vLLM does. */
export function spelledWithDashes(argument: string): string {
  if (!argument.startsWith('--')) return argument;
  const [name = '', ...value] = argument.split('=');
  return [name.replaceAll('_', '-'), ...value].join('=');
}
