import { type BatonConfig, UsageError } from '@baton/config';
import type { Stage } from '@baton/contract';
import { MAX_ENGINES } from '@baton/policies';
import type { EngineStarter } from '@baton/engine-host';
import { checkEngines } from './checks';
import { type StageCounts, NO_ENGINES, planWorkers } from './cluster-plan';
import { checkProcesses, type Machine, thisMachine } from './process-limit';
import type { ProcessSpec } from './supervised-process';
import type { Supervisor } from './supervisor';

/**
 * Starts worker processes for engines that join a running cluster: one per core at a time, so that
 * running ones keep their share. The others wait, and can be cancelled until they are ready.
 */
export class WorkerStarter implements EngineStarter {
  private readonly named: Record<Stage, number>;
  private readonly starting = new Set<string>();
  private waiting: ProcessSpec[] = [];

  /** @param engines the initial engines, whose workers already have their names */
  constructor(
    private readonly config: BatonConfig,
    engines: StageCounts,
    private readonly supervisor: Pick<Supervisor, 'add' | 'dismiss' | 'size'>,
    private readonly machine: () => Machine = thisMachine,
  ) {
    this.named = { ...engines };
  }

  start(role: Stage, count: number): Promise<void> {
    return Promise.resolve(this.startNow(role, count));
  }

  /**
   * Returns once they are accepted.
   *
   * @throws UsageError when the configuration describes an impossible engine, or there are too many
   * processes
   */
  startNow(stage: Stage, count: number): void {
    const { config, supervisor } = this;
    checkEngines(config, { ...NO_ENGINES, [stage]: count });
    const { enginesPerProcess: perProcess = 1 } = config;
    const wanted = { stage, engines: count, firstIndex: this.named[stage], perProcess };
    const specs = planWorkers(config, wanted);
    const running = supervisor.size + this.waiting.length;
    if (running + specs.length > MAX_ENGINES) {
      throw new UsageError(`A cluster has at most ${MAX_ENGINES} processes.`);
    }
    checkProcesses(config, { running, more: specs.length }, this.machine());
    this.named[stage] += count;
    this.waiting.push(...specs);
    this.startNext();
  }

  /** Ends processes that are not ready. Returns their number. */
  cancelNow(): number {
    const names = [...this.starting];
    const count = names.length + this.waiting.length;
    this.waiting = [];
    this.starting.clear();
    for (const name of names) this.supervisor.dismiss(name);
    return count;
  }

  cancel(): Promise<number> {
    return Promise.resolve(this.cancelNow());
  }

  /** Call it when a process is ready or has left the cluster. */
  settled(name: string): void {
    if (this.starting.delete(name)) this.startNext();
  }

  private startNext(): void {
    const { cores } = this.machine();
    while (this.starting.size < cores) {
      const spec = this.waiting.shift();
      if (spec === undefined) return;
      this.starting.add(spec.name);
      this.supervisor.add(spec);
    }
  }
}
