import type { RawJson } from '@baton/text';
import type { Endpoint } from '../generation-request';
import type { AnswerHead } from './answer-head';
import type { FinishReason } from './finish-reason';

/** A chunk's fields other than its text, as JSON. */
export interface ChunkFacts {
  readonly logprobs?: RawJson | undefined;
  readonly finish?: FinishFacts | undefined;
  /** Ids of the chunk's tokens, with `return_token_ids`. */
  readonly tokenIds?: RawJson | undefined;
  readonly promptTokenIds?: RawJson | undefined;
  /** The prompt as text, with `return_prompt_text`. */
  readonly promptText?: RawJson | undefined;
  /** Usage so far, with `continuous_usage_stats`. */
  readonly usage?: RawJson | undefined;
}

export interface FinishFacts {
  readonly reason: FinishReason;
  readonly stopReason: string | number | null;
}

/** The frames of a stream in one dialect, for one request. Texts and echoes are JSON-escaped. */
export interface StreamShape {
  /** True when the end is a separate frame without text; false when it comes with the last text. */
  readonly finishesApart: boolean;
  /** The frame that opens a chat answer. */
  role(index: number, facts: ChunkFacts): string;
  /** The echo of a chat message. */
  echo(index: number, text: string, facts: ChunkFacts): string;
  chunk(index: number, text: string, facts: ChunkFacts): string;
  /** A chat chunk with a finished delta. */
  delta(index: number, delta: RawJson, facts: ChunkFacts): string;
  /** The end of a sequence, for a dialect that sends it separately. */
  finishSequence(index: number, facts: ChunkFacts): string;
  usage(usage: RawJson): string;
  /**
   * The parameters of blocks that decode has kept. vLLM plans to send them with the last chunk
   * (pull request 40186); here that chunk is sent before they are known.
   */
  kvTransferParams(params: RawJson): string;
}

export interface StreamShapeInput {
  readonly endpoint: Endpoint;
  readonly head: AnswerHead;
  readonly includeUsage: boolean;
  readonly serviceTier: string | undefined;
}
