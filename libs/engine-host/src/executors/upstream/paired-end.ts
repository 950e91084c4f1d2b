import { LiveClock } from '@baton/clock';
import { type LegFailure, submissionOf } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { FailedFetches } from '../../decode/failed-fetches';
import { Endings } from '../../run/endings/endings';
import { EngineIdentity } from '../../run/engine/engine-identity';
import { Mailbox } from '../../run/engine/mailbox';
import { isRunOver, type Run } from '../../run/runs/run';
import { HostOptions, Ledger, Log } from '../../run/tokens';

const TELL_EVERY_US = 500_000;
/** Most repeats of the message; by then decode has received it or has answered. */
const MOST_MESSAGES = 20;

/**
 * Ends requests with a failed leg on a server. When both legs are under way, the ledger determines
 * which run acts: until decode has begun, the prefill run ends or retries the request. Afterwards
 * the decode run does; the message to it is repeated until it has.
 */
@Injectable()
export class PairedEnd {
  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly ledger: Ledger,
    private readonly clock: LiveClock,
    private readonly mailbox: Mailbox,
    private readonly endings: Endings,
    private readonly failed: FailedFetches,
    private readonly log: Log,
  ) {}

  /** Whether no other engine may retry. */
  isFinal({ code }: LegFailure): boolean {
    return code === 'upstream_error' || code === 'upstream_timeout';
  }

  fail(run: Run, failure: LegFailure): void {
    this.endings.failRequest(run, 'status' in failure ? failure : failure.code);
  }

  /** Ends or retries the request after the prefill leg of `run` has failed during decode's leg. */
  async endRequest(run: Run, failure: LegFailure): Promise<void> {
    for (let sent = 0; sent < MOST_MESSAGES && !isRunOver(run); sent += 1) {
      if (await this.isSettled(run, failure)) break;
      await this.pause();
    }
    this.endings.end(run, 'handOn');
  }

  private async isSettled(run: Run, failure: LegFailure): Promise<boolean> {
    const { log } = this;
    try {
      return (await this.endsHere(run, failure)) || !(await this.messageDecode(run, failure));
    } catch (error) {
      log.debug({ err: error, requestId: run.job.requestId }, 'message to decode failed');
      return false;
    }
  }

  /** Whether this run has ended or retried the request. False: decode has begun. */
  private async endsHere(run: Run, failure: LegFailure): Promise<boolean> {
    const { ledger, options, failed } = this;
    if (!this.isFinal(failure) && options.workerLossPolicy === 'retry') {
      return failed.returnToPrefill(run);
    }
    const result = { reason: 'error', tokens: 0, errorCode: failure.code } as const;
    const isOurs = await ledger.finishRequest(run.job.requestId, run.epoch, result);
    if (isOurs && !isRunOver(run)) this.fail(run, failure);
    return isOurs;
  }

  /**
   * Sends the failure to decode. False when no message is needed: the request is over or has been
   * retried.
   */
  private async messageDecode(run: Run, failure: LegFailure): Promise<boolean> {
    const { ledger, identity } = this;
    const from = identity.engineId;
    const { requestId } = run.job;
    const [view] = await ledger.inspect([requestId]);
    const isDecoding = view?.stage === 'decode' && !view.isAborted;
    if (!isDecoding || submissionOf(view.epoch) !== submissionOf(run.epoch)) return false;
    const { epoch } = run;
    this.mailbox.send(view.engineId, { kind: 'leg-over', from, requestId, epoch, failure });
    return true;
  }

  private pause(): Promise<void> {
    const { wall } = this.clock;
    return new Promise((resolve) => wall.at(wall.nowUs() + TELL_EVERY_US, resolve));
  }
}
