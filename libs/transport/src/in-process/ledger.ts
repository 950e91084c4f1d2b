import type { Epoch } from '@baton/contract';
import { LIVE_RECORD_TTL_MS, MAX_PROMPT_BYTES } from '../limits';
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
import type { InProcessHub } from './hub';
import { RequestRecord } from './record';

export class MemoryLedger implements RequestLedger {
  constructor(private readonly hub: InProcessHub) {}

  begin(start: RunStart): Promise<RunPermit> {
    return this.hub.call('begin', () => beginRun(this.hub, start));
  }

  handOff(requestId: string, epoch: Epoch, handoff: HandoffRecord): Promise<boolean> {
    return this.change('handOver', requestId, (record) => record.handOff(epoch, handoff));
  }

  async returnToPrefill(
    requestId: string,
    epoch: Epoch,
    why: ReturnReason = 'run-failed',
  ): Promise<number | undefined> {
    let submission: number | undefined;
    await this.change('returnToPrefill', requestId, (record) => {
      submission = record.returnToPrefill(epoch, why);
      return submission !== undefined;
    });
    return submission;
  }

  async failRun(requestId: string, epoch: Epoch): Promise<void> {
    await this.change('failRun', requestId, (record) => record.failRun(epoch));
  }

  async withdraw(requestId: string, epoch: Epoch): Promise<void> {
    await this.change('withdraw', requestId, (record) => record.withdraw(epoch));
  }

  finishRequest(requestId: string, epoch: Epoch, result: RequestResult): Promise<boolean> {
    return this.change('finish', requestId, (record) => record.finishRequest(epoch, result));
  }

  abort(requestIds: readonly string[]): Promise<void> {
    return this.hub.call('abort', () => {
      for (const id of requestIds) {
        const record = this.hub.records.get(id) ?? new RequestRecord();
        if (record.abort()) this.keep(id, record);
      }
    });
  }

  resubmit({ requestId, submission, apiId }: Resubmission): Promise<void> {
    return this.hub.call('resubmit', () => {
      const record = this.hub.records.get(requestId) ?? new RequestRecord();
      if (record.resubmit(submission, apiId)) this.keep(requestId, record);
    });
  }

  abandon(requestId: string): Promise<void> {
    return this.hub.call('abandon', () => {
      const record = this.hub.records.get(requestId);
      if (record === undefined || this.hub.apis.has(record.apiId) || !record.abandon()) return;
      this.hub.records.set(requestId, record, this.hub.times.tombstoneMs);
    });
  }

  inspect(requestIds: readonly string[]): Promise<(RequestView | undefined)[]> {
    return this.hub.call('inspect', () =>
      requestIds.map((id) => {
        const record = this.hub.records.get(id);
        const view = record?.toView(this.hub.apis.has(record.apiId));
        if (record?.state === 'live' && view?.isAborted === false) this.keep(id, record);
        return view;
      }),
    );
  }

  putPrompt(requestId: string, prompt: Buffer): Promise<'stored' | 'too-large'> {
    return this.hub.call('store a prompt', () => {
      if (prompt.length > MAX_PROMPT_BYTES) return 'too-large';
      this.hub.prompts.set(requestId, prompt, this.hub.times.promptTtlMs);
      return 'stored';
    });
  }

  getPrompt(requestId: string): Promise<Buffer | undefined> {
    return this.hub.call('read a prompt', () => this.hub.prompts.get(requestId));
  }

  private change(what: string, requestId: string, apply: RecordChange): Promise<boolean> {
    return this.hub.call(what, () => changeRecord(this.hub, requestId, apply));
  }

  private keep(requestId: string, record: RequestRecord): void {
    keepRecord(this.hub, requestId, record);
  }
}

export function beginRun(hub: InProcessHub, start: RunStart): RunPermit {
  const record = hub.records.get(start.requestId) ?? new RequestRecord();
  const isNew = record.submission === undefined;
  const permit = record.begin(start, hub.apis.has(start.apiId));
  if (permit.kind !== 'drop') keepRecord(hub, start.requestId, record);
  else if (permit.why === 'not-awaited' && isNew) {
    hub.records.set(start.requestId, record, hub.times.tombstoneMs);
  }
  return permit;
}

/** Returns false when it changes nothing. */
type RecordChange = (record: RequestRecord) => boolean;

/**
 * Applies one rule of the ledger to one record. False without a record, or when the rule refuses.
 */
export function changeRecord(hub: InProcessHub, requestId: string, apply: RecordChange): boolean {
  const record = hub.records.get(requestId);
  if (record === undefined || !apply(record)) return false;
  keepRecord(hub, requestId, record);
  return true;
}

function keepRecord(hub: InProcessHub, requestId: string, record: RequestRecord): void {
  const ttlMs = record.state === 'live' ? LIVE_RECORD_TTL_MS : hub.times.tombstoneMs;
  hub.records.set(requestId, record, ttlMs);
}
