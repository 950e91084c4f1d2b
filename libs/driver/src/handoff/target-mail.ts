import type { EngineStats } from '@baton/telemetry';
import type { SourceName, TargetAction } from '@baton/handoff';
import type { Transport } from '@baton/transport';
import type { EngineIdentity } from '../host/engine-identity';
import type { Mailbox } from '../host/mailbox';
import type { JobFaults } from '../jobs/job-faults';
import type { RunTable } from '../jobs/run';

type Action<K extends TargetAction['kind']> = Extract<TargetAction, { kind: K }>;

type ReleaseName = Pick<SourceName, 'engineId' | 'requestId' | 'generation'>;

export interface TargetMailParts {
  readonly identity: EngineIdentity;
  readonly mailbox: Mailbox;
  readonly transport: Pick<Transport, 'isConnected'>;
  readonly runs: RunTable;
  readonly jobFaults: JobFaults;
  readonly stats: EngineStats;
}

/** What the target end of a hand-over sends to the source end. */
export class TargetMail {
  constructor(private readonly parts: TargetMailParts) {}

  sendRead(action: Action<'send-read'>): void {
    const { mailbox, identity, runs, jobFaults } = this.parts;
    const { requestId, epoch, generation, attempt, readerRequestId } = action;
    const run = runs.get(readerRequestId);
    const { claim, claimedTokens } = run?.fetching ?? {};
    mailbox.send(action.to, {
      kind: 'read',
      from: identity.engineId,
      ...{ requestId, epoch, generation, attempt, readerRequestId },
      ...(claim === undefined ? {} : { claim }),
      ...(claimedTokens === undefined ? {} : { claimedTokens }),
      ...(jobFaults.expiresLease(run) ? { expires: true as const } : {}),
    });
  }

  sendReadEnd({ kind: _kind, to, ...end }: Action<'send-read-end'>): void {
    const { mailbox, identity, transport, stats } = this.parts;
    if (!transport.isConnected) stats.add('nixl_num_failed_notifications');
    mailbox.send(to, { kind: 'read-end', from: identity.engineId, ...end });
  }

  sendHeartbeats({ to, requestIds }: Action<'send-heartbeats'>): void {
    const { mailbox, identity } = this.parts;
    mailbox.send(to, { kind: 'heartbeat', from: identity.engineId, requestIds });
  }

  /** This engine will not read what the source holds under the name. */
  sendRelease({ engineId, requestId, generation }: ReleaseName): void {
    const { mailbox, identity } = this.parts;
    const from = identity.engineId;
    mailbox.send(engineId, { kind: 'release', from, requestId, generation });
  }
}
