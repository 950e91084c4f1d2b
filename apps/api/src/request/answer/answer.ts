import type { BatonError, EndReason } from '@baton/contract';

/** The facts of a whole answer once its last sequence has ended. */
export interface AnswerFacts {
  readonly cachedTokens: number;
  /** The eleven fields of a held prompt, as the engine sent them. */
  readonly kvTransferParams: Readonly<Record<string, unknown>> | undefined;
  /** The hand-over parameters in TensorRT-LLM's form. */
  readonly disaggregated?: { readonly id: string | undefined; readonly state: string };
  /** True for LMCache's proxy, which continues after the first token and needs its id. */
  readonly includesFirstToken?: boolean;
}

/** The fields that a prefill leg gets besides its token. */
export type HeldFacts = Omit<AnswerFacts, 'cachedTokens'>;

/** Tokens `[from, from + count)` of the sequence with this index. */
export interface TokenSpan {
  readonly index: number;
  readonly from: number;
  readonly count: number;
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
