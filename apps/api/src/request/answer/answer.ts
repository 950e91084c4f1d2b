import type { BatonError, EndReason } from '@baton/contract';
import type { AnswerExtras } from '@baton/openai';

/** The facts of a whole answer once its last sequence has ended. */
export interface AnswerFacts {
  readonly cachedTokens: number;
  /** The eleven fields of a held prompt, as the engine sent them. */
  readonly kvTransferParams: Readonly<Record<string, unknown>> | undefined;
  /** Only for a leg of a router that reads more than the parameters. */
  readonly extras?: AnswerExtras;
}

/** The fields that a prefill leg gets besides its token. */
export type HeldFacts = Omit<AnswerFacts, 'cachedTokens'>;

/** Tokens `[from, from + count)` of the sequence with this index. */
export interface TokenSpan {
  readonly index: number;
  readonly from: number;
  readonly count: number;
}

/** The end of a sequence: its reason and its last tokens. */
export interface SequenceEnd {
  readonly span: TokenSpan;
  readonly reason: EndReason;
}

/**
 * The shape in which tokens become bytes for one client. Indexes come in order and without repeats;
 * after `complete` or `fail` nothing else comes.
 */
export interface Answer {
  /** The broker has the jobs; from now on the client certainly gets an answer. */
  open(): void;
  tokens(index: number, from: number, count: number): void;
  /** The payload of an executing stage; comes before the token that it belongs to. */
  executed?(payload: string): void;
  endSequence(span: TokenSpan, reason: EndReason): void;
  /** Sends everything that came in this turn of the event loop. */
  flush(): void;
  complete(facts: AnswerFacts): void;
  fail(error: BatonError): void;
  /** True when the client reads too slowly, which ends the answer. */
  readonly isOverfull: boolean;
}
