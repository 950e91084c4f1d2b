import type { Epoch } from '@baton/contract';
import type { Script, ScriptCall, ScriptReply, ScriptValue } from './scripts/script';
import type {
  HandoffRecord,
  RequestLedger,
  RequestResult,
  RequestView,
  Resubmission,
  ReturnReason,
  RunPermit,
  RunStart,
} from '../port/ledger';
import type { TransportTimes } from '../times';
import { LIVE_RECORD_TTL_MS, MAX_PROMPT_BYTES } from '../limits';
import type { Keys } from './keys';
import {
  ABANDON_REQUEST,
  ABORT,
  FAIL_RUN,
  INSPECT,
  RESUBMIT,
  RETURN_TO_PREFILL,
} from './ledger-scripts';
import type { RedisLink } from './connection/link';
import { LedgerCalls, readPermit } from './ledger-calls';

/** Ids per script call, so that no call blocks the server for long. */
const BATCH = 256;

/** The request records in Redis: one hash per request, one script per rule (ledger-scripts.ts). */
export class RedisLedger implements RequestLedger {
  private readonly calls: LedgerCalls;

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
    private readonly times: TransportTimes,
  ) {
    this.calls = new LedgerCalls(keys, times);
  }

  async begin(start: RunStart): Promise<RunPermit> {
    return readPermit(await this.send(this.calls.begin(start)));
  }

  async handOff(requestId: string, epoch: Epoch, handoff: HandoffRecord): Promise<boolean> {
    return (await this.send(this.calls.handOver(requestId, epoch, handoff))) === 1;
  }

  async returnToPrefill(
    requestId: string,
    epoch: Epoch,
    why: ReturnReason = 'run-failed',
  ): Promise<number | undefined> {
    const args = [epoch, LIVE_RECORD_TTL_MS, why];
    const submission = await this.run(RETURN_TO_PREFILL, [this.keys.request(requestId)], args);
    return typeof submission === 'number' && submission > 0 ? submission : undefined;
  }

  async failRun(requestId: string, epoch: Epoch): Promise<void> {
    await this.run(FAIL_RUN, [this.keys.request(requestId)], [epoch]);
  }

  async withdraw(requestId: string, epoch: Epoch): Promise<void> {
    await this.send(this.calls.withdraw(requestId, epoch));
  }

  async finishRequest(requestId: string, epoch: Epoch, result: RequestResult): Promise<boolean> {
    return (await this.send(this.calls.finishRequest(requestId, epoch, result))) === 1;
  }

  async abort(requestIds: readonly string[]): Promise<void> {
    await Promise.all(
      batches(requestIds).map((ids) =>
        this.run(ABORT, this.records(ids), [this.times.tombstoneMs]),
      ),
    );
  }

  async resubmit({ requestId, submission, apiId }: Resubmission): Promise<void> {
    const args = [submission, LIVE_RECORD_TTL_MS, apiId];
    await this.run(RESUBMIT, [this.keys.request(requestId)], args);
  }

  async abandon(requestId: string): Promise<void> {
    const args = [this.keys.api(''), this.times.tombstoneMs];
    await this.run(ABANDON_REQUEST, [this.keys.request(requestId)], args);
  }

  async inspect(requestIds: readonly string[]): Promise<(RequestView | undefined)[]> {
    const args = [this.keys.api(''), LIVE_RECORD_TTL_MS];
    const replies = await Promise.all(
      batches(requestIds).map((ids) => this.run(INSPECT, this.records(ids), args)),
    );
    return replies.flatMap((reply) => (Array.isArray(reply) ? reply.map(readView) : []));
  }

  async putPrompt(requestId: string, prompt: Buffer): Promise<'stored' | 'too-large'> {
    if (prompt.length > MAX_PROMPT_BYTES) return 'too-large';
    const key = this.keys.prompt(requestId);
    const { promptTtlMs } = this.times;
    await this.link.ask('store a prompt', () =>
      this.link.commands.set(key, prompt, 'PX', promptTtlMs),
    );
    return 'stored';
  }

  async getPrompt(requestId: string): Promise<Buffer | undefined> {
    const key = this.keys.prompt(requestId);
    return (
      (await this.link.call('read a prompt', () => this.link.commands.getBuffer(key))) ?? undefined
    );
  }

  private send({ script, keys, args }: ScriptCall): Promise<ScriptReply> {
    return this.run(script, keys, args);
  }

  private run(
    script: Script,
    keys: readonly string[],
    args: readonly ScriptValue[],
  ): Promise<ScriptReply> {
    return this.link.call(script.name, () => this.link.scripts.run(script, keys, args));
  }

  private records(requestIds: readonly string[]): string[] {
    return requestIds.map((id) => this.keys.request(id));
  }
}

function readView(reply: ScriptReply): RequestView | undefined {
  if (!Array.isArray(reply)) return undefined;
  const [state, stage, epoch, engine, gone, result, api, awaitsRun] = reply as readonly (
    string | number | null
  )[];
  return {
    stage: state === 'live' ? (stage as RequestView['stage']) : 'finished',
    epoch: Number(epoch ?? 0),
    engineId: String(engine ?? ''),
    isAborted: state === 'aborted' || gone !== null,
    isApiAlive: api === 1,
    awaitsRun: awaitsRun === 1,
    result: typeof result === 'string' ? (JSON.parse(result) as RequestResult) : undefined,
  };
}

function batches(ids: readonly string[]): (readonly string[])[] {
  const cut: (readonly string[])[] = [];
  for (let at = 0; at < ids.length; at += BATCH) cut.push(ids.slice(at, at + BATCH));
  return cut;
}
