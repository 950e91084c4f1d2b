import { vllmMinorOf } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { BATON_FAMILIES } from './baton-families';
import { cacheConfigLabels } from './cache-config';
import type { EngineFamily, EngineMetricsSource } from './engine-family';
import { FLAVOUR_FAMILIES } from './flavours';
import { familyOf, type Labels, type MetricFamily } from './registry';
import { VLLM_FAMILIES } from './vllm-families';

/** vLLM's configuration as labels; it has no model_name. */
const CACHE_CONFIG_INFO = {
  name: 'vllm:cache_config_info',
  help: 'Information of the LLMEngine CacheConfig',
  type: 'gauge',
} as const;

/**
 * The labels that distinguish the numbers of one engine from those of others. `engine` is vLLM's
 * number of a scheduler: the data-parallel rank. Engines of several ranks are distinguished by
 * `replica`; those of one rank by `engine` itself, which then numbers the engines of the cluster.
 */
export function engineLabels({ index, dataParallel }: EnginePresence): Labels {
  if (dataParallel === undefined) return { engine: String(index) };
  return { engine: String(dataParallel.rank), replica: String(dataParallel.replica) };
}

/** The labels of every family of an engine but `vllm:cache_config_info`. */
export function modelLabels(engine: EnginePresence): Labels {
  return { ...engineLabels(engine), model_name: engine.model };
}

/**
 * All families of these engines, also without an engine. A worker's own `/metrics` and the
 * cluster-wide one of the API show them.
 */
export function engineFamilies(
  presences: readonly EnginePresence[],
  source: EngineMetricsSource,
): MetricFamily[] {
  const { config, maxModelLen } = source;
  const minor = vllmMinorOf(config);
  const engines = presences.map((engine) => ({ engine, labels: modelLabels(engine) }));
  const all = [...VLLM_FAMILIES, ...BATON_FAMILIES, ...FLAVOUR_FAMILIES[config.metricsFlavour]];
  const families = all
    .filter(({ sinceMinor = 0 }) => sinceMinor <= minor)
    .map(({ samples, ...head }) => {
      const values = engines.flatMap(({ engine, labels }) =>
        samples(engine, source).map((one) => ({ ...one, labels: { ...labels, ...one.labels } })),
      );
      return familyOf(headOf(head), values);
    });
  const cacheConfig = cacheConfigLabels(config, maxModelLen);
  const configs = presences.map((engine) => ({
    labels: { ...engineLabels(engine), ...cacheConfig(engine) },
    value: 1,
  }));
  return [...families, familyOf(CACHE_CONFIG_INFO, configs)];
}

function headOf({ name, help, type }: Omit<EngineFamily, 'samples'>) {
  return { name, help, type };
}

/** Whether a family shows the work of a simulated engine under the name of a server. */
export function isSimulatedFamily(name: string): boolean {
  return SIMULATED.has(name);
}

const SIMULATED = new Set([
  CACHE_CONFIG_INFO.name,
  ...[VLLM_FAMILIES, ...Object.values(FLAVOUR_FAMILIES)].flat().map(({ name }) => name),
]);
