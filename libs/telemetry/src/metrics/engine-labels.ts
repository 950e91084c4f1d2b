import type { EnginePresence } from '@baton/contract';

/**
 * The labels that distinguish the numbers of one engine from those of others. `engine` is vLLM's
 * number of a scheduler: the data-parallel rank. Engines of several ranks are distinguished by
 * `replica`; those of one rank by `engine` itself, which then numbers the engines of the cluster.
 */
export function engineLabels({ index, dataParallel }: EnginePresence): Record<string, string> {
  if (dataParallel === undefined) return { engine: String(index) };
  return { engine: String(dataParallel.rank), replica: String(dataParallel.replica) };
}
