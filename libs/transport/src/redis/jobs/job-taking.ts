import type { EngineJob } from '@baton/contract';
import { type JobTaker, placeOf, TAKING_ORDER } from '../scripts/taking-order';
import { type Script, type ScriptCall, type ScriptReply } from '../scripts/script';
import { Job, type JobJsonRaw } from 'bullmq';
import type { RunPermit } from '../../port/ledger';
import type { RunClaim } from '../../port/queues';
import { BLOCK_SECONDS } from '../connection/client';
import type { RedisLink } from '../connection/link';
import { type LedgerCalls, readPermit } from '../ledger-calls';
import { BullCalls } from './bull-calls';
import type { BullJob, BullWorker } from './held-jobs';
import { isOwn, expireTaken } from './queue-expiry';
import { LEFT } from './queue-scripts';

/** Time to live of the order of consumers. Each of them enters again whenever a wait ends. */
const ORDER_TTL_MS = 3_000 * BLOCK_SECONDS;

/**
 * Takes one job after the other, until the consumer has enough or its share of those that wait.
 * `order` keeps the order of consumers, and `permitOf` begins the run of a job.
 */
const TAKE_JOBS = `
local jobs, order = {}, order()
for i = 1, math.min(tonumber(leftArgs[1]), order.share(left())) do
  local taken = take()
  if type(taken[1]) ~= 'table' then break end
  jobs[i] = {taken[2], taken[1], permitOf(taken[2], taken[1])}
end
order.took(#jobs)
keep()
local rest = left()
return {rest, jobs, rest > 0 and order.leaves(), order.turn}
`;

const TAKE: Script = { name: 'takeJobs', body: `local function permitOf() end${TAKE_JOBS}` };

/**
 * Each job begins its run. The request and its submission are the id of the job; the API is in its
 * data, in plain letters, so that the data is not parsed here. A job whose data is gone has no API:
 * its request counts as not awaited, so that the API that does await it submits it again.
 */
const TAKE_AND_BEGIN: Script = {
  name: 'takeJobsAndBegin',
  body: `
local recordPrefix, apiPrefix = beginKeys[1], beginKeys[2]
local letters = {['3A'] = ':', ['25'] = '%'}
local function permitOf(id, fields)
  local apiId = ''
  for i = 1, #fields, 2 do
    if fields[i] == 'data' then apiId = string.match(fields[i + 1], '"apiId":"([^"]*)"') or '' end
  end
  local requestId, submission = string.match(id, '^(.*)%-(%d+)$')
  if not requestId then return false end
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
  /** True when those are for another consumer, which was woken. */
  readonly isDeferred: boolean;
  /** The turn of the consumer from now on. */
  readonly turn: number;
}

export interface JobTakingParts {
  readonly link: RedisLink;
  readonly worker: BullWorker;
  readonly ledger: LedgerCalls;
  readonly begins: RunClaim | undefined;
  /** Time that a woken consumer has before others take the job. */
  readonly momentMs: number;
}

/** Takes jobs by BullMQ's own command, and begins their runs, as one script. */
export class JobTaking {
  /** An engine's own queue has one consumer, and no order. */
  readonly hasOrder: boolean;
  private readonly bull: BullCalls;

  constructor(private readonly parts: JobTakingParts) {
    this.hasOrder = !isOwn(parts.worker);
    this.bull = new BullCalls(parts.link.commands);
  }

  /** @param token of the locks; @param wanted most jobs */
  async take(token: string, wanted: number, taker: JobTaker): Promise<TakenBatch> {
    const { link, worker, ledger, begins } = this.parts;
    const { wait = '', prioritized = '', delayed = '', marker = '' } = worker.keys;
    const keys = [wait, prioritized, delayed, marker];
    const left = { script: LEFT, keys, args: [wanted] };
    const take = await this.bull.take(worker, token);
    const calls = { take, left, order: this.orderOf(taker), keep: expireTaken(worker) };
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

  /** Changes the place of a consumer that waits. */
  async enter(taker: JobTaker): Promise<void> {
    const { link } = this.parts;
    const [takers] = this.orderKeys;
    await link.call('wait for jobs', () => link.commands.zadd(takers, placeOf(taker), taker.id));
  }

  /** No job is left to a consumer that has gone or has no room. */
  async withdraw({ id }: JobTaker): Promise<void> {
    const { link } = this.parts;
    const [takers] = this.orderKeys;
    await link.call('wait no longer', () => link.commands.zrem(takers, id));
  }

  /** A value in this key wakes the consumer. */
  wakeKey(id: string): string {
    return this.parts.worker.toKey(`wake:${id}`);
  }

  private orderOf({ id, isIdle, turn, room }: JobTaker): ScriptCall {
    const { worker, momentMs } = this.parts;
    const { marker = '' } = worker.keys;
    const order = [this.hasOrder ? id : '', isIdle ? 1 : 0, turn, room];
    const args = [...order, this.wakeKey(''), ORDER_TTL_MS, momentMs];
    return { script: TAKING_ORDER, keys: [...this.orderKeys, marker], args };
  }

  private get orderKeys(): readonly [takers: string, woken: string] {
    const { worker } = this.parts;
    return [worker.toKey('takers'), worker.toKey('woken')];
  }

  private read(reply: ScriptReply): TakenBatch {
    const [left, jobs, isDeferred, turn] = reply as RawBatch;
    return { left, turn, jobs: jobs.map((raw) => this.jobOf(raw)), isDeferred: isDeferred === 1 };
  }

  private jobOf([id, fields, permit]: RawJob): BatchJob {
    const json: Record<string, string> = {};
    for (let at = 0; at < fields.length; at += 2) json[fields[at]!] = fields[at + 1]!;
    return { bull: this.bullJob(json, id), permit: permit ? readPermit(permit) : undefined };
  }

  /** BullMQ parses the data. A job whose data is no JSON has none. */
  private bullJob(json: Record<string, string>, id: string): BullJob {
    const { worker } = this.parts;
    const read = (fields: object): BullJob =>
      Job.fromJSON<EngineJob, null>(worker, fields as JobJsonRaw, id);
    try {
      return read(json);
    } catch {
      return read({ processedOn: json['processedOn'], ats: json['ats'] });
    }
  }
}

type RawBatch = readonly [left: number, jobs: readonly RawJob[], deferred: 1 | null, turn: number];
type RawJob = readonly [id: string, fields: readonly string[], permit?: ScriptReply];
