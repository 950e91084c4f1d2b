import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  BatonError,
  EndReason,
  EngineJob,
  ErrorCode,
  FaultNote,
  FrameHeader,
  Stage,
} from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import type { Tenant } from '../../http/request-context';

/** The HTTP call of a client. */
export interface ObservedCall {
  readonly requestId: string;
  readonly tenant: Tenant;
  /** µs of the wall clock since the Unix epoch. */
  readonly arrivalUs: number;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: unknown;
}

/** One admitted request, from its opening to the end of its answer. */
export interface ObservedRequest {
  readonly call: ObservedCall;
  /** Id of the answer. */
  readonly id: string;
  readonly model: string;
  readonly generation: GenerationRequest;
  /** Path of the endpoint. */
  readonly endpoint: string;
  /** Hash of the client's field that groups requests; undefined when the client sends none. */
  readonly sessionKey: number | undefined;
  readonly sequences: readonly ObservedSequence[];
}

/** One prompt and choice of a request. */
export interface ObservedSequence {
  readonly streamId: number;
  /** Place of the sequence in its answer. */
  readonly index: number;
  readonly job: EngineJob;
  /** Tokens received so far. */
  readonly received: number;
  readonly cachedTokens: number;
  /** The engine that sent the last frame. */
  readonly engineId: string | undefined;
  readonly history: SequenceHistory;
}

/**
 * When and where the events of a sequence happened. For a sequence with several runs, the last run
 * counts. Instants in µs are of the wall clock since the Unix epoch, as engines stamp them, and
 * undefined before they come; instants in ms are of `performance.now()`, and 0 before they come.
 */
export interface SequenceHistory {
  readonly arrivalMs: number;
  readonly prefillEngine: string | undefined;
  readonly decodeEngine: string | undefined;
  /** Prompt tokens whose KV came from another engine. */
  readonly transferredTokens: number;
  /** Start of its first step on the engine that computes its prompt. */
  readonly scheduledUs: number | undefined;
  /** Time at which its prompt was held for a decode engine. */
  readonly heldUs: number | undefined;
  /** Start of its first step on the engine that took over its KV. */
  readonly decodeUs: number | undefined;
  readonly stampedFirstUs: number | undefined;
  readonly stampedLastUs: number | undefined;
  readonly firstTokenMs: number;
  readonly lastTokenMs: number;
  /** Start of the first step that it had on any engine. */
  readonly firstStepMs: number;
  /** Time to the first token, ms; valid only once that token has come. */
  readonly ttftMs: number;
}

/** News of a sequence other than tokens, the end or a fault. */
export interface SequenceNote {
  readonly kind: 'scheduled' | 'handed-over' | 'restarted';
  readonly stage: Stage;
  readonly engineId: string;
  /** End of the step, or when the prompt was held; µs of the wall clock since the Unix epoch. */
  readonly stampedUs: number;
  /** Prompt tokens in the local prefix cache, as the engine counts them. */
  readonly cachedTokens: number;
  /** Prompt tokens that came over a transfer. */
  readonly transferredTokens: number;
  /** Stage in whose queue the sequence waits from now on; undefined: in none. */
  readonly waitsIn: Stage | undefined;
}

/** Tokens that have just arrived. The object is reused for every call: copy what you keep. */
export interface TokenNews {
  /** Index of the first new token. */
  readonly from: number;
  readonly count: number;
  /** Now, ms of `performance.now()`. */
  readonly nowMs: number;
  /** Time of the tokens before these; 0 for the first ones. */
  readonly previousMs: number;
  /** The engine's stamp, µs of the wall clock since the Unix epoch. */
  readonly stampedUs: number;
  readonly header: FrameHeader;
}

/** The end of a sequence or of a whole request. */
export interface End {
  readonly reason: EndReason;
  /** The error of a failed sequence or request. */
  readonly error?: ErrorCode | undefined;
}

export interface RequestEnd extends End {
  /** True when the client did not read its answer. */
  readonly isSlowReader: boolean;
}

/**
 * The events that the front sends its observers, in the order in which they happen to a request.
 */
export interface ObservedEvents {
  /** Nothing of the call was queued. */
  refused(call: ObservedCall, error: BatonError): void;
  /** Called before the jobs of the request are submitted. */
  opened(request: ObservedRequest): void;
  noted(sequence: ObservedSequence, note: SequenceNote): void;
  /** An engine carried out a fault on purpose. */
  faulted(note: FaultNote): void;
  /** The hot path: once per entry of a token frame. */
  tokens(sequence: ObservedSequence, news: TokenNews): void;
  /** This many jobs of an engine that left were placed again. */
  jobsMoved(jobs: number): void;
  /** All tokens of a frame are written. */
  written(header: FrameHeader): void;
  /** Once for each sequence that was opened. */
  ended(sequence: ObservedSequence, end: End, request: ObservedRequest): void;
  /** Once for each request that was opened. */
  closed(request: ObservedRequest, end: RequestEnd): void;
}

/**
 * Observes requests. All that an observer gets is read-only, and observers are called in any order:
 * none may depend on another.
 */
export interface RequestObserver extends Partial<ObservedEvents> {
  /** Only enabled observers are called; without this field the observer is always on. */
  readonly isOn?: boolean;
  /** Opens its files and channels. @throws UsageError when a file cannot be written */
  start?(): Promise<void>;
  /** Writes the remaining data. */
  stop?(): Promise<void>;
}
