import type { EngineJob } from '@baton/contract';
import type { Script, ScriptReply } from '@baton/redis-scripts';
import { Job, type JobJsonRaw } from 'bullmq';
import type { RunPermit } from '../../port/ledger';
import type { RunClaim } from '../../port/queues';
import type { RedisLink } from '../connection/link';
import { type LedgerCalls, readPermit } from '../ledger-calls';
import { BullCalls } from './bull-calls';
import type { BullJob, BullWorker } from './held-jobs';
import { keepTaken } from './queue-life';
import { DEFERS, LEFT } from './queue-scripts';

/** Time to live of the wake-up of a consumer that may have ended. */
const WAKE_TTL_MS = 10_000;

/**
 * Takes one job after the other, until there are enough, none is left, or an idle consumer has to
 * take them. A consumer that takes a job is no longer idle. `permitOf` begins the run of a job.
 */
const TAKE_JOBS = `
local jobs, isDeferred = {}, false
for i = 1, tonumber(leftArgs[1]) do
  if left() == 0 then break end
  isDeferred = defers()
  if isDeferred then break end
  local taken = take()
  if type(taken[1]) ~= 'table' then break end
  jobs[i] = {taken[2], taken[1], permitOf(taken[2], taken[1])}
  defersArgs[1] = '0'
end
keep()
return {left(), jobs, isDeferred}
`;

const TAKE: Script = { name: 'takeJobs', body: `local function permitOf() end${TAKE_JOBS}` };

/**
 * Each job begins its run. The request and its submission are the id of the job; the API is in its
 * data, in plain letters, so that the data is not parsed here.
 */
const TAKE_AND_BEGIN: Script = {
  name: 'takeJobsAndBegin',
  body: `
local recordPrefix, apiPrefix = beginKeys[1], beginKeys[2]
local letters = {['3A'] = ':', ['25'] = '%'}
local function permitOf(id, fields)
  local apiId
  for i = 1, #fields, 2 do
    if fields[i] == 'data' then apiId = string.match(fields[i + 1], '"apiId":"([^"]*)"') end
  end
  local requestId, submission = string.match(id, '^(.*)%-(%d+)$')
  if not apiId or not requestId then return false end
  requestId = string.gsub(requestId, '%%(%x%x)', letters)
  beginKeys[1], beginKeys[2] = recordPrefix .. requestId, apiPrefix .. apiId
  beginArgs[1], beginArgs[4] = submission, apiId
  return begin()
end
${TAKE_JOBS}
`,
};

export interface BatchJob {
  readonly bull: BullJob;
  readonly permit: RunPermit | undefined;
}

export interface TakenBatch {
  readonly jobs: readonly BatchJob[];
  /** Jobs that wait in the queue after it. */
  readonly left: number;
  /** True when the jobs are left to an idle consumer, which was woken. */
  readonly isDeferred: boolean;
}

/** A consumer that takes jobs. */
export interface JobTaker {
  readonly id: string;
  readonly isIdle: boolean;
}

export interface JobTakingParts {
  readonly link: RedisLink;
  readonly worker: BullWorker;
  readonly ledger: LedgerCalls;
  readonly begins: RunClaim | undefined;
}

/** Takes jobs by BullMQ's own command, and begins their runs, as one script. */
export class JobTaking {
  private readonly bull: BullCalls;

  constructor(private readonly parts: JobTakingParts) {
    this.bull = new BullCalls(parts.link.commands);
  }

  /** @param token of the locks; @param wanted most jobs */
  async take(token: string, wanted: number, { id, isIdle }: JobTaker): Promise<TakenBatch> {
    const { link, worker, ledger, begins } = this.parts;
    const { wait = '', prioritized = '', delayed = '', marker = '' } = worker.keys;
    const keys = [wait, prioritized, delayed, marker];
    const left = { script: LEFT, keys, args: [wanted] };
    const defers = {
      args: [isIdle ? 1 : 0, id, this.wakeKey(''), WAKE_TTL_MS],
      ...{ script: DEFERS, keys: [this.idleKey, marker] },
    };
    const take = await this.bull.take(worker, token);
    const calls = { take, left, defers, keep: keepTaken(worker) };
    const reply =
      begins === undefined
        ? await link.scripts.runFolded(TAKE, calls)
        : await link.scripts.runFolded(TAKE_AND_BEGIN, {
            begin: ledger.beginTaken(begins),
            ...calls,
          });
    return this.read(reply);
  }

  /** Takes back a run that began with the take but does not run, so that it does not count. */
  async uncountRun(job: EngineJob, permit: RunPermit | undefined): Promise<void> {
    if (permit?.kind !== 'run') return;
    const { link, ledger } = this.parts;
    const { script, keys, args } = ledger.withdraw(job.requestId, permit.epoch);
    await link.scripts.run(script, keys, args);
  }

  /** Registers a consumer as idle, until it takes or another leaves jobs to it. */
  async offer(id: string, tookMs: number): Promise<void> {
    const { link } = this.parts;
    await link.call('offer to take', () => link.commands.zadd(this.idleKey, tookMs, id));
  }

  /** A value in this key wakes the consumer. */
  wakeKey(id: string): string {
    return this.parts.worker.toKey(`wake:${id}`);
  }

  /** Sorted set of the consumers that are idle, by when they took last. */
  private get idleKey(): string {
    return this.parts.worker.toKey('idle');
  }

  private read(reply: ScriptReply): TakenBatch {
    const [left, jobs, isDeferred] = reply as readonly [number, readonly RawJob[], 1 | null];
    return { left, jobs: jobs.map((raw) => this.jobOf(raw)), isDeferred: isDeferred === 1 };
  }

  private jobOf([id, fields, permit]: RawJob): BatchJob {
    const json: Record<string, string> = {};
    for (let at = 0; at < fields.length; at += 2) json[fields[at]!] = fields[at + 1]!;
    const bull = Job.fromJSON<EngineJob, null>(
      this.parts.worker,
      json as unknown as JobJsonRaw,
      id,
    );
    return { bull, permit: permit ? readPermit(permit) : undefined };
  }
}

type RawJob = readonly [id: string, fields: readonly string[], permit?: ScriptReply];
