import type { ServerResponse } from 'node:http';
import {
  type BatonError,
  type EndReason,
  type Fault,
  type FaultAction,
  InjectedError,
} from '@baton/contract';
import type { HttpAnswer } from '../../http/http-answer';
import type { Answer, AnswerFacts, TokenSpan } from '../answer/answer';
import { PassingAnswer } from '../answer/passing';

export interface FaultyAnswerParts {
  readonly http: HttpAnswer;
  readonly response: ServerResponse;
  readonly isStream: boolean;
  /** Ends the whole request with an error, also in the cluster. */
  readonly fail: (error: BatonError) => void;
}

export interface FaultTools {
  readonly isDue: (fault: Fault) => boolean;
  readonly count: (fault: Fault) => void;
  /** Simulated µs in wall ms. */
  readonly wallMs: (us: number) => number;
}

/** The beginning of an event that no parser can read. */
const MALFORMED = 'data: {"choices":[{"index":0,"delta":{"content":"\n\n';

/**
 * Adds faults to an answer, each after a number of its tokens; in an answer in one piece, at its
 * completion. While it stalls, everything waits in order. At most the tokens of the answer wait,
 * and the wait ends when the client leaves.
 */
export class FaultyAnswer extends PassingAnswer {
  private pending: Fault[];
  private shown = 0;
  private deferred: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(
    inner: Answer,
    faults: readonly Fault[],
    private readonly parts: FaultyAnswerParts & FaultTools,
  ) {
    super(inner);
    this.pending = [...faults].sort((a, b) => tokensBefore(a) - tokensBefore(b));
    parts.response.once('close', () => this.endAnswer());
  }

  override open(): void {
    this.whenFree(() => {
      if (this.parts.isStream) this.carryOutAll(({ action }) => action.kind === 'delay');
      this.whenFree(() => this.inner.open());
    });
  }

  override executed(payload: string): void {
    this.whenFree(() => super.executed(payload));
  }

  override tokens(index: number, from: number, count: number): void {
    this.whenFree(() => {
      const before = this.tokensBeforeNext(count);
      if (before > 0) this.pass(before, () => this.inner.tokens(index, from, before));
      if (before < count)
        this.carryOutNext(() => this.tokens(index, from + before, count - before));
    });
  }

  override endSequence(span: TokenSpan, reason: EndReason): void {
    this.whenFree(() => {
      const { index, from, count } = span;
      const before = this.tokensBeforeNext(count);
      if (before === count) {
        this.pass(count, () => this.inner.endSequence(span, reason));
        return;
      }
      if (before > 0) this.pass(before, () => this.inner.tokens(index, from, before));
      this.carryOutNext(() =>
        this.endSequence({ index, from: from + before, count: count - before }, reason),
      );
    });
  }

  override flush(): void {
    if (this.timer === undefined && !this.isOver) this.inner.flush();
  }

  override complete(facts: AnswerFacts): void {
    this.whenFree(() => {
      this.carryOutAll((fault) => tokensBefore(fault) <= this.shown);
      this.whenFree(() => {
        this.endAnswer();
        this.inner.complete(facts);
      });
    });
  }

  override fail(error: BatonError): void {
    if (this.isOver) return;
    this.endAnswer();
    this.inner.fail(error);
  }

  /**
   * The number of the next `count` tokens that come before the next fault; an answer in one piece
   * shows all at its end.
   */
  private tokensBeforeNext(count: number): number {
    const next = this.pending.find(({ action }) => action.kind !== 'delay');
    if (next === undefined || !this.parts.isStream) return count;
    return Math.min(count, Math.max(0, tokensBefore(next) - this.shown));
  }

  private pass(count: number, show: () => void): void {
    this.shown += count;
    show();
  }

  /** Carries out the next fault, then continues the answer. */
  private carryOutNext(then: () => void): void {
    const at = this.pending.findIndex(({ action }) => action.kind !== 'delay');
    const [fault] = this.pending.splice(at, 1);
    if (fault) this.carryOut(fault);
    this.whenFree(then);
  }

  private carryOutAll(isMeant: (fault: Fault) => boolean): void {
    const meant = this.pending.filter(isMeant);
    this.pending = this.pending.filter((fault) => !meant.includes(fault));
    for (const fault of meant) this.whenFree(() => this.carryOut(fault));
  }

  private carryOut(fault: Fault): void {
    if (!this.parts.isDue(fault)) return;
    this.parts.count(fault);
    this.act(fault.action);
  }

  private act(action: FaultAction): void {
    const { http, response, isStream, fail, wallMs } = this.parts;
    switch (action.kind) {
      case 'delay':
      case 'stall':
        return this.stall(wallMs(action.delayUs));
      case 'error': {
        const error = new InjectedError(action);
        fail(error);
        // A request that is complete in the cluster can no longer fail there.
        this.fail(error);
        return;
      }
      case 'cut':
        this.inner.flush();
        this.endAnswer();
        response.destroy();
        return;
      case 'malformed-frame':
        if (isStream) this.writeMalformed();
        else http.breakBody();
        return;
      default:
        // The other faults happen at engines.
        return;
    }
  }

  private stall(ms: number): void {
    this.inner.flush();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const waiting = this.deferred.splice(0);
      for (const go of waiting) this.whenFree(go);
      this.flush();
    }, ms);
  }

  private writeMalformed(): void {
    this.inner.open();
    this.inner.flush();
    if (!this.parts.response.writableEnded) this.parts.response.write(MALFORMED, 'latin1');
  }

  private whenFree(go: () => void): void {
    if (this.isOver) return;
    if (this.timer === undefined) go();
    else this.deferred.push(go);
  }

  private endAnswer(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.deferred = [];
  }
}

function tokensBefore({ action }: Fault): number {
  return 'afterTokens' in action ? action.afterTokens : 0;
}
