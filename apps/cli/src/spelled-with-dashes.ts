/** vLLM takes `--max_model_len` as well as `--max-model-len`; so do we. */
export function spelledWithDashes(argument: string): string {
  if (!argument.startsWith('--')) return argument;
  const [name = '', ...value] = argument.split('=');
  return [name.replaceAll('_', '-'), ...value].join('=');
}
