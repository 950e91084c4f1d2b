import type { BatonConfig } from '@baton/config';
import type { ErrorCode } from '@baton/contract';
import type { AnswerHead, GenerationRequest, RequestError } from '@baton/openai';
import type { GivenAnswer } from '@baton/text';
import type { AnswerFacts, SequenceEnd } from '../answer/answer';
import type { ThreadSource } from '../take/call';
import type { BodyAnswer } from './body-answers';
import type { PackedPlans } from './packed-plans';

/** The data that every thread gets at its start. */
export interface ThreadData {
  readonly config: BatonConfig;
  /** True when the texts of prompts are kept for a text model. */
  readonly keepsText: boolean;
  readonly datasetTokens: Int32Array | undefined;
}

/** One sequence, as data. */
export interface PlacedSequence {
  readonly index: number;
  readonly room: number;
  readonly isPrefillLeg: boolean;
  /** The answer that the user has written; undefined when it is simulated. */
  readonly given: GivenAnswer | undefined;
}

/** The members of `CheckedRequest` that write a body in one piece. */
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

/** A checked body without the parts that cannot leave their thread. */
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
  /** vLLM's name of the field; undefined for an error of the catalogue. */
  readonly vllmParam: RequestError['vllmParam'] | undefined;
  /** Undefined for the code of the catalogue. */
  readonly openaiCode: RequestError['openaiCode'];
}

export type ThreadResult<Value> =
  { readonly value: Value; readonly refusal?: undefined } | { readonly refusal: PlainRefusal };

/** The result of a task in its thread. Objects in `transfer` are not copied. */
export interface Performed {
  readonly value: unknown;
  readonly transfer?: readonly ArrayBuffer[];
}
