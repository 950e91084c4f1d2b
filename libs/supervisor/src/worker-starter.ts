import { type BatonConfig, UsageError } from '@baton/config';
import type { Stage } from '@baton/contract';
import { MAX_ENGINES } from '@baton/placement';
import type { EngineStarter } from '@baton/worker';
import { checkEngines } from './checks';
import { type StageCounts, NO_ENGINES, planWorkers } from './cluster-plan';
import type { Supervisor } from './supervisor';

/** Starts worker processes for engines that join a running cluster. */
export class WorkerStarter implements EngineStarter {
  private readonly named: Record<Stage, number>;

  /** @param engines  those of the start, whose workers have their names already */
  constructor(
    private readonly config: BatonConfig,
    engines: StageCounts,
    private readonly supervisor: Pick<Supervisor, 'add' | 'size'>,
  ) {
    this.named = { ...engines };
  }

  start(role: Stage, count: number): Promise<void> {
    return Promise.resolve(this.startNow(role, count));
  }

  /**
   * @throws UsageError when the configuration describes no such engine that can be, or there are
   *   too many processes
   */
  startNow(stage: Stage, count: number): void {
    const { config, supervisor } = this;
    checkEngines(config, { ...NO_ENGINES, [stage]: count });
    const specs = planWorkers(config, { stage, engines: count, firstIndex: this.named[stage] });
    if (supervisor.size + specs.length > MAX_ENGINES) {
      throw new UsageError(`A cluster has at most ${MAX_ENGINES} processes.`);
    }
    this.named[stage] += specs.length;
    for (const spec of specs) supervisor.add(spec);
  }
}
