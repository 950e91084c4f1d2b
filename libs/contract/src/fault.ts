import type { ErrorCode } from './errors';

/**
 * The point on its way at which a fault hits a request. `stream` is the answer on its way to the
 * client, streamed or whole.
 */
export type FaultStage = 'queue' | 'prefill' | 'transfer' | 'decode' | 'stream';

export const FAULT_STAGES: readonly FaultStage[] = [
  'queue',
  'prefill',
  'transfer',
  'decode',
  'stream',
];

/** The action of a fault. `afterTokens`: tokens of the sequence before the action. */
export type FaultAction =
  | {
      readonly kind: 'error';
      /** HTTP status, 400 to 599. */
      readonly status: number;
      readonly message?: string;
      readonly param?: string;
      /** OpenAI's string code, if the status does not determine it. */
      readonly openaiCode?: string;
      readonly retryAfterSeconds?: number;
      readonly afterTokens: number;
    }
  /** Simulated µs. */
  | { readonly kind: 'delay'; readonly delayUs: number }
  | { readonly kind: 'stall'; readonly delayUs: number; readonly afterTokens: number }
  | { readonly kind: 'cut'; readonly afterTokens: number }
  | { readonly kind: 'malformed-frame'; readonly afterTokens: number }
  /** The link runs at this share of its speed for one transfer, above 0. */
  | { readonly kind: 'slow-link'; readonly factor: number }
  | { readonly kind: 'expire-lease' }
  /**
   * The engine breaks an invariant: its requests end, and a new engine takes over in the same
   * process.
   */
  | { readonly kind: 'crash-engine'; readonly afterTokens: number }
  /** The worker process ends as by SIGKILL, once per request. */
  | { readonly kind: 'kill-process'; readonly afterTokens: number };

export type FaultKind = FaultAction['kind'];

/** A fault that was decided when the request arrived, and is carried out at its stage. */
export interface Fault {
  /** The name of the rule. */
  readonly rule: string;
  readonly stage: FaultStage;
  readonly action: FaultAction;
  /**
   * Window in which the request must reach the stage, wall µs since the Unix epoch: from the first
   * value on, before the second. Absent: any time.
   */
  readonly window?: readonly [fromUs: number, untilUs: number];
}

/**
 * A worker's note of a fault that it carried out: the JSON tail of a frame entry of the kind
 * `fault`.
 */
export interface FaultNote {
  readonly fault: FaultKind;
  readonly stage: FaultStage;
  readonly rule: string;
}

/** The code of runs that a fault failed; status and message are those of the fault. */
export const INJECTED: ErrorCode = 'injected_fault';
