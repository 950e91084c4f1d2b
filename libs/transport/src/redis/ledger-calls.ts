import type { Epoch } from '@baton/contract';
import type { ScriptCall, ScriptReply } from './scripts/script';
import { EXHAUSTED_RESULT, LIVE_RECORD_TTL_MS } from '../limits';
import type { HandoffRecord, RequestResult, RunPermit, RunStart } from '../port/ledger';
import type { RunClaim } from '../port/queues';
import type { TransportTimes } from '../times';
import type { Keys } from './keys';
import { BEGIN, FINISH, HAND_OVER, WITHDRAW } from './ledger-scripts';

/** The calls of ledger scripts, sent alone or as part of a step with a job. */
export class LedgerCalls {
  constructor(
    private readonly keys: Keys,
    private readonly times: TransportTimes,
  ) {}

  begin({ requestId, apiId, submission, ...claim }: RunStart): ScriptCall {
    return this.beginOf(claim, { requestId, apiId, submission });
  }

  /**
   * The call for a run whose job is not known yet: the step that takes the job adds submission and
   * API to the arguments, and completes the keys, which are prefixes.
   */
  beginTaken(claim: RunClaim): ScriptCall {
    return this.beginOf(claim, { requestId: '', apiId: '', submission: 0 });
  }

  withdraw(requestId: string, epoch: Epoch): ScriptCall {
    return { script: WITHDRAW, keys: [this.keys.request(requestId)], args: [epoch] };
  }

  handOver(requestId: string, epoch: Epoch, handoff: HandoffRecord): ScriptCall {
    const args = [epoch, JSON.stringify(handoff), LIVE_RECORD_TTL_MS];
    return { script: HAND_OVER, keys: [this.keys.request(requestId)], args };
  }

  finishRequest(requestId: string, epoch: Epoch, result: RequestResult): ScriptCall {
    const args = [epoch, JSON.stringify(result), this.times.tombstoneMs];
    return { script: FINISH, keys: [this.keys.request(requestId)], args };
  }

  private beginOf(
    { stage, engineId, maxRuns }: RunClaim,
    { requestId, apiId, submission }: Omit<RunStart, keyof RunClaim>,
  ): ScriptCall {
    const exhausted = JSON.stringify(EXHAUSTED_RESULT);
    const times = [LIVE_RECORD_TTL_MS, this.times.tombstoneMs];
    return {
      script: BEGIN,
      keys: [this.keys.request(requestId), this.keys.api(apiId)],
      args: [submission, stage, engineId, apiId, maxRuns, ...times, exhausted],
    };
  }
}

export function readPermit(reply: ScriptReply): RunPermit {
  const [kind, detail, more] = reply as readonly [string, string | number, string | number | null];
  if (kind === 'run') {
    const handoff = typeof more === 'string' ? (JSON.parse(more) as HandoffRecord) : undefined;
    return { kind, epoch: Number(detail), handoff };
  }
  if (kind === 'exhausted') return { kind, epoch: Number(detail) };
  if (detail === 'handed-over') {
    return { kind: 'drop', why: detail, handoff: JSON.parse(String(more)) as HandoffRecord };
  }
  if (detail === 'returned') return { kind: 'drop', why: detail, submission: Number(more) };
  return { kind: 'drop', why: detail } as RunPermit;
}
