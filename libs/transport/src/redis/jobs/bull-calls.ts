import { type EngineJob, jobId } from '@baton/contract';
import type { ScriptCall, ScriptValue } from '../scripts/script';
import { Job, type JobsOptions, PRIORITY_LIMIT, type Queue, type RedisClient } from 'bullmq';
import type { MarkingClient } from '../connection/client';
import { withoutColons } from '../keys';
import type { BullJob, BullWorker } from './held-jobs';

export type BullQueue = Queue<EngineJob, null, string>;

type BullClient = RedisClient;
type Value = string | number | boolean | Buffer | undefined;

/**
 * BullMQ as a data format. Its public calls take 4.1 scripts for a request and find a job of a lost
 * worker after 30 s; ours take 1.6 and find it within 3 s (docs/decisions/0002). BullMQ still
 * chooses each command, makes its keys and arguments and has its text, so that none of its code is
 * copied and its own tools see the queues. What is used beside its public calls holds for this
 * version; `bull-calls.spec.ts` fails on any other.
 */
export const BULLMQ_VERSION = '5.81.5';

/** BullMQ's own commands as parts of a larger script. */
export class BullCalls {
  constructor(private readonly client: MarkingClient) {}

  /** The command that `queue.add` sends. */
  async add(queue: BullQueue, data: EngineJob): Promise<ScriptCall> {
    await queue.client;
    const options = bullOptions(data);
    const job = new Job<EngineJob, null>(queue, 'run', data, options, options.jobId);
    return this.sentBy((client) => job.addJob(client));
  }

  /** The command that `worker.getNextJob` sends. */
  async take(worker: BullWorker, token: string): Promise<ScriptCall> {
    await worker.client;
    return this.sentBy((client) => worker.scripts.moveToActive(client, token));
  }

  /** The command that `job.moveToCompleted` sends. */
  async complete(worker: BullWorker, job: BullJob, token: string): Promise<ScriptCall> {
    await worker.client;
    const values = worker.scripts.moveToCompletedArgs(job, null, true, token, false);
    return this.callOf('moveToFinished', values);
  }

  /** The command that BullMQ passes to a client that only records it. */
  private async sentBy(send: (client: BullClient) => Promise<unknown>): Promise<ScriptCall> {
    const calls: ScriptCall[] = [];
    const runCommand = (name: string, values: readonly Value[]): Promise<void> => {
      calls.push(this.callOf(name, values));
      return Promise.resolve();
    };
    await send({ runCommand } as unknown as BullClient);
    return calls[0]!;
  }

  /** @param name with or without BullMQ's version after a colon */
  private callOf(name: string, values: readonly Value[]): ScriptCall {
    const [plain = name] = name.split(':');
    const { lua, numberOfKeys = 0 } = this.client.definitionOf(plain);
    return {
      script: { name: plain, body: lua },
      keys: values.slice(0, numberOfKeys).map(String),
      args: values.slice(numberOfKeys).map((value) => value ?? '') as ScriptValue[],
    };
  }
}

/**
 * vLLM runs lower priorities first, 0 being the default, in an int64. BullMQ takes its plain list
 * before the prioritized set (1 to 2,097,151, lower first), so positive priorities go there, those
 * beyond its end together. Negative ones go to the front of the plain list, where the latest is
 * first; the engine orders what it has taken exactly.
 */
function bullOptions(job: EngineJob): JobsOptions {
  const base = {
    jobId: withoutColons(jobId(job)),
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  };
  if (job.priority > 0)
    return { ...base, priority: Math.min(Math.ceil(job.priority), PRIORITY_LIMIT) };
  return job.priority < 0 ? { ...base, lifo: true } : base;
}
