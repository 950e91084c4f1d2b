import type { EngineJob } from '@baton/contract';
import type { Script, ScriptCalls } from '../scripts/script';
import type { JobFinish, HandOver, QueueName } from '../../port/queues';
import type { RedisLink } from '../connection/link';
import type { LedgerCalls } from '../ledger-calls';
import { BullCalls, type BullQueue } from './bull-calls';
import type { BullJob, BullWorker } from './held-jobs';
import { isOwn, expireAdded } from './queue-expiry';

const FINISH = `
local isOurs = finish()
`;

const HAND_ON = `
local isOurs = handOver()
if isOurs == 1 then add() end
`;

const HAND_ON_KEPT = `
local isOurs = handOver()
if isOurs == 1 then
  add()
  keep()
end
`;

/** A held job that leaves its queue with the step; undefined if it stays or is no longer held. */
export type Leaving = { readonly bull: BullJob; readonly token: string } | undefined;

export interface JobStepsParts {
  readonly link: RedisLink;
  readonly worker: BullWorker;
  readonly ledger: LedgerCalls;
  readonly queueOf: (name: QueueName) => BullQueue;
}

/**
 * Joint steps of ledger and queue, one script each: the ledger's rule with BullMQ's own commands
 * around it, so that no failure can come between them.
 */
export class JobSteps {
  private readonly bull: BullCalls;

  constructor(private readonly parts: JobStepsParts) {
    this.bull = new BullCalls(parts.link.commands);
  }

  /** Stores the result of the request; the job leaves its queue, whatever the ledger answers. */
  finishJob(job: EngineJob, { epoch, result }: JobFinish, leaving: Leaving): Promise<boolean> {
    const finish = this.parts.ledger.finishRequest(job.requestId, epoch, result);
    return this.run({ name: 'finish', body: FINISH }, { finish }, leaving);
  }

  /**
   * Stores the record and, if accepted, adds the next job. The run's own job leaves in any case.
   */
  async handOver(job: EngineJob, how: HandOver, leaving: Leaving): Promise<boolean> {
    const { epoch, handoff, next } = how;
    const handOver = this.parts.ledger.handOver(job.requestId, epoch, handoff);
    const queue = this.parts.queueOf(next.queue);
    const add = await this.bull.add(queue, next.job);
    // A step without a job that leaves only adds data to the server.
    const isRefusedWhenFull = leaving === undefined ? true : undefined;
    const [body, calls] = isOwn(queue)
      ? [HAND_ON_KEPT, { handOver, add, keep: expireAdded(queue, next.job) }]
      : [HAND_ON, { handOver, add }];
    return this.run({ name: 'handOn', body, isRefusedWhenFull }, calls, leaving);
  }

  private async run(order: Script, calls: ScriptCalls, leaving: Leaving): Promise<boolean> {
    const { link, worker } = this.parts;
    const complete = leaving && (await this.bull.complete(worker, leaving.bull, leaving.token));
    const body = `${order.body}${complete ? 'complete()' : ''}\nreturn isOurs\n`;
    const all = { ...calls, ...(complete && { complete }) };
    return (await link.scripts.runTogether({ ...order, body }, all)) === 1;
  }
}
