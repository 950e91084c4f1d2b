/** NVIDIA's GPUs for one socket, each with the one that followed it in the same place. */
const GENERATIONS = ['a100-40g', 'a100-80g', 'h100', 'h200', 'b200', 'b300'] as const;

/** The GPU that came before one, and the one that came after. Empty for others than those above. */
export function neighbouringGpus(name: string): {
  readonly older?: string;
  readonly newer?: string;
} {
  const at = GENERATIONS.findIndex((one) => one === name);
  if (at < 0) return {};
  const [older, newer] = [GENERATIONS[at - 1], GENERATIONS[at + 1]];
  return { ...(older && { older }), ...(newer && { newer }) };
}
