import type { BatonConfig } from '@baton/config';
import type { ErrorCode } from '@baton/contract';
import type { AnswerHead, GenerationRequest, RequestError } from '@baton/openai';
import type { GivenAnswer } from '@baton/text';
import type { AnswerFacts } from '../answer/answer';
import type { SequenceEnd } from '../answer/threaded';
import type { ThreadSource } from '../take/call';
import type { BodyAnswer } from './body-answers';
import type { PackedPlans } from './packed-plans';

/** What every thread is given at its start. */
export interface ThreadData {
  readonly config: BatonConfig;
  /** Texts of prompts are kept for a text model. */
  readonly keepsText: boolean;
  readonly datasetTokens: Int32Array | undefined;
}

/** The place of one sequence, as data. */
export interface PlacedSequence {
  readonly index: number;
  readonly room: number;
  readonly isPrefillLeg: boolean;
  /** What the user has written for it; undefined: it is simulated. */
  readonly given: GivenAnswer | undefined;
}

/** The members of `Asked` that write a body in one piece. */
export type AnswerForm = 'answer' | 'document';

/** The tasks of a thread. Each names the body, so that any thread can do it. */
export type ThreadTask =
  | { readonly kind: 'take'; readonly source: ThreadSource }
  | {
      readonly kind: 'answer';
      readonly source: ThreadSource;
      readonly name: BodyAnswer;
      readonly extra: unknown;
    }
  | {
      readonly kind: 'plan';
      readonly source: ThreadSource;
      readonly places: readonly PlacedSequence[];
    }
  | {
      readonly kind: 'render';
      readonly source: ThreadSource;
      readonly form: AnswerForm;
      readonly head: AnswerHead;
      readonly plans: PackedPlans;
      readonly ends: readonly SequenceEnd[];
      readonly facts: AnswerFacts;
    };

/** A checked body without what cannot leave its thread. */
export interface Taken {
  readonly reading: { readonly request: GenerationRequest };
  /** The fields of the body that are small; see `LargeBody`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A refusal of the catalogue, as data. */
export interface PlainRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  /** In vLLM's words; undefined: the same. */
  readonly vllm: { readonly message: string; readonly param: string | null } | undefined;
  /** Undefined: that of the catalogue. */
  readonly openaiCode: RequestError['openaiCode'];
}

export type ThreadResult<Value> =
  { readonly value: Value; readonly refusal?: undefined } | { readonly refusal: PlainRefusal };
