import { PeriodicTimer } from '@baton/clock';
import type { EngineJob } from '@baton/contract';
import type { JobRouting } from '@baton/engine-host';
import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import { Submitter } from '../cluster/submitter';
import { Observers } from '../observers/port/observers';
import { ApiIdentity, Log, ROUTING, Broker } from '../tokens';
import { SequenceTable } from '../sequences/sequence-table';

const SWEEP_EVERY_MS = 200;

/**
 * Moves placed jobs from engines that drain, are silent or are lost to other engines. An engine
 * keeps its jobs as long as its locks or its presence last. Any API process may move a job; the
 * first one to find it does. The ledger fences a second run.
 */
@Injectable()
export class JobMover implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: PeriodicTimer | undefined;
  private isSweeping = false;
  /** Jobs taken out of a queue and not yet put into another. */
  private unplaced: readonly EngineJob[] = [];

  constructor(
    private readonly transport: Broker,
    @Inject(ROUTING) private readonly routing: JobRouting,
    private readonly identity: ApiIdentity,
    private readonly logger: Log,
    private readonly cluster: ClusterView,
    private readonly table: SequenceTable,
    private readonly submitter: Submitter,
    private readonly observers: Observers,
  ) {}

  onApplicationBootstrap(): void {
    const mayBeSlow = (): boolean =>
      this.unplaced.length === 0 && this.routing.unavailableEngines().length === 0;
    this.timer = new PeriodicTimer(SWEEP_EVERY_MS, () => void this.sweep(), mayBeSlow);
  }

  onApplicationShutdown(): void {
    this.timer?.stop();
  }

  /** Ends the queue of a lost engine. Jobs bound to that engine end with it. */
  async abandon(engineId: string): Promise<void> {
    this.addUnplaced(await this.transport.jobs.abandon(`engine:${engineId}`));
    await this.placeAgain();
  }

  private async sweep(): Promise<void> {
    if (this.isSweeping || !this.transport.isConnected) return;
    this.isSweeping = true;
    try {
      for (const { engineId } of this.routing.unavailableEngines()) {
        if (this.cluster.hasLost(engineId)) await this.abandon(engineId);
        else this.addUnplaced(await this.transport.jobs.reclaim(`engine:${engineId}`));
      }
      await this.placeAgain();
    } catch (error) {
      this.logger.debug(
        { err: error },
        'moving jobs of a departed engine failed; the next sweep retries',
      );
    } finally {
      this.isSweeping = false;
    }
  }

  private addUnplaced(jobs: readonly EngineJob[]): void {
    if (jobs.length > 0) this.unplaced = [...this.unplaced, ...jobs];
  }

  private async placeAgain(): Promise<void> {
    const jobs = this.unplaced;
    if (jobs.length === 0) return;
    this.unplaced = [];
    const moved = await Promise.all(jobs.map((job) => this.move(job)));
    this.addUnplaced(jobs.filter((_job, i) => moved[i] === false));
    this.observers.jobsMoved(moved.filter(Boolean).length);
    this.logger.info({ jobs: jobs.length }, 'jobs of an engine that left were placed again');
  }

  private async move(job: EngineJob): Promise<boolean | undefined> {
    if (job.placed === undefined) return undefined;
    const next = this.routing.again(job.placed.stage, job);
    const own = job.apiId === this.identity.apiId ? this.table.get(job.streamId) : undefined;
    if (own?.job.requestId === job.requestId) own.queue = next.queue;
    return this.submitter.submit(next.queue, [next.job]).then(
      () => true,
      () => false,
    );
  }
}
