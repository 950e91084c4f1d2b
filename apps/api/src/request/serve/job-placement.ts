import type { EngineJob } from '@baton/contract';
import { type JobRouting, needsLoads } from '@baton/engine-host';
import { Inject, Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import type { Sequence } from '../../sequences/sequence';
import { dataParallelRankOf } from '../../http/data-parallel-rank';
import { Config, ROUTING } from '../../tokens';
import { AdmissionGate } from '../admit/admission-gate';
import type { Call } from '../take/call';
import { sessionKeyOf } from '../route/session-key';

/** Chooses engines for new jobs when a policy is set, and tracks the jobs to their engines. */
@Injectable()
export class JobPlacement {
  /** When false, every job goes unchanged into the queue of its stage. */
  readonly isOn: boolean;
  private readonly hasPolicy: boolean;

  constructor(
    private readonly config: Config,
    @Inject(ROUTING) private readonly routing: JobRouting,
    private readonly cluster: ClusterView,
    private readonly gate: AdmissionGate,
  ) {
    this.hasPolicy = needsLoads(config);
    this.isOn = this.hasPolicy || config.dataParallelSize > 1;
  }

  /** The job as it is put into its queue; `entryQueue` names the queue. */
  place(job: EngineJob, call: Call): EngineJob {
    const pinned = this.pin(job, call);
    if (!this.hasPolicy || job.placed !== undefined) return pinned;
    const sessionKey = sessionKeyOf(call);
    const known = sessionKey === undefined ? pinned : { ...pinned, sessionKey };
    return this.routing.atArrival(known).job;
  }

  /**
   * Binds the job to the data-parallel rank that the client names: of any engine, or of the engine
   * at whose port the request came in.
   */
  private pin(job: EngineJob, { response }: Call): EngineJob {
    const { dataParallelSize } = this.config;
    if (dataParallelSize === 1) return job;
    const rank = dataParallelRankOf(response.req.headers, dataParallelSize);
    if (rank === undefined) return job;
    if (job.engineId === undefined) return { ...job, dataParallelRank: rank };
    return { ...job, engineId: this.cluster.rankOf(job.engineId, rank) ?? job.engineId };
  }

  /** The sequence of a placed job has been opened, and is counted in the stage of its route. */
  opened(sequence: Sequence): void {
    const { placed, decodeEngineId, promptTokens } = sequence.job;
    if (placed === undefined) return;
    this.gate.moved(sequence, placed.stage);
    if (decodeEngineId === undefined) return;
    const hasArrived = (): boolean => sequence.isOver || sequence.engineId === decodeEngineId;
    this.routing.expect(decodeEngineId, promptTokens, hasArrived);
  }
}
