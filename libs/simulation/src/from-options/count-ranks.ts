import { type BatonConfig, UsageError } from '@baton/config';
import { MAX_ENGINES, type Topology } from '@baton/policies';

/**
 * Schedulers of all engines: each data-parallel rank is one.
 *
 * @throws UsageError when they are more than a cluster can have
 */
export function countRanks(config: BatonConfig, engines: Topology): number {
  const { dataParallelSize } = config;
  const ranks = (engines.prefill + engines.decode + engines.aggregated) * dataParallelSize;
  if (ranks <= MAX_ENGINES) return ranks;
  throw new UsageError(
    `${config.topology} with data_parallel_size ${dataParallelSize} makes ${ranks} ranks; ` +
      `there can be at most ${MAX_ENGINES}.`,
  );
}
