import { decodeStep, type MeasuredStep, prefillStep } from '@baton/calibration';
import type { KvTransfer } from '../formats/measured';
import type { DecodePoint } from './measure-decode';
import type { PromptPoint } from './measure-prompts';
import { median, straight } from './statistics';

/** What was measured with nothing else running. */
export interface Measurements {
  /** The shortest prompt that can be asked: what a request costs besides its tokens. */
  readonly shortest: PromptPoint;
  readonly prompts: readonly PromptPoint[];
  readonly decode: readonly DecodePoint[];
  /** Whether prompts are computed on one engine and answers on another. */
  readonly isHandedOver: boolean;
  /** Tokens that a step computes at most. */
  readonly maxNumBatchedTokens: number;
  /** Bytes that the readers of KV count for a token; undefined where they do not. */
  readonly kvBytesPerToken: number | undefined;
}

/** The same by whom it belongs to. */
export interface EngineTimes {
  readonly steps: readonly MeasuredStep[];
  /** Between client and engine, per request: HTTP, API, queues. No step has it. */
  readonly overheadMs: number;
  readonly overheadFrom: string;
  /** One per length of prompt; none where they could not be told from prefill. */
  readonly transfers: readonly KvTransfer[];
  readonly transfersFrom: string;
  readonly kvBytesPerToken: number | undefined;
}

interface Parted {
  readonly prefillMs: number;
  readonly transferMs: number | undefined;
  readonly overheadMs: number;
}

const SHORTEST_STEP_MS = 0.001;

/** Those of which no cache held anything, by their length. */
export function wholePrompts({ prompts }: Measurements): readonly PromptPoint[] {
  return prompts.filter(({ cached }) => cached === 0);
}

/** Parts times to first token into steps of engines, transfers of KV, and what is neither. */
export function engineTimes(measured: Measurements): EngineTimes {
  const { shortest, prompts, decode } = measured;
  const firstStepMs = stepsOfOne(decode);
  const byServer = prompts.map((point) => partsByServer(point, measured, firstStepMs));
  const isTold = byServer.every((parts) => parts !== undefined);
  const parted = isTold ? byServer : partsByClient(measured, firstStepMs);
  const transfers = prompts.flatMap(({ tokens, cached }, i): KvTransfer[] => {
    const ms = parted[i]!.transferMs;
    return ms === undefined || ms <= 0 || cached > 0 ? [] : [{ tokens, ms }];
  });
  return {
    steps: [
      ...promptSteps(
        prompts,
        parted.map(({ prefillMs }) => prefillMs),
        measured.maxNumBatchedTokens,
      ),
      ...decode.map(({ sequences, context, stepMs }) =>
        decodeStep(sequences, sequences * context, stepMs),
      ),
    ],
    overheadMs: Math.max(0, median(parted.map(({ overheadMs }) => overheadMs))),
    overheadFrom: isTold
      ? "time to first token at the client − the server's own parts of it"
      : `time to first token of a prompt of ${shortest.tokens} − its steps, at the client`,
    ...{ transfers, transfersFrom: sourceOf(measured, isTold, transfers.length) },
    kvBytesPerToken: measured.kvBytesPerToken,
  };
}

/**
 * A prompt of one step is a step; of a longer one its last step is what it takes more than the
 * prompt that ends where that step begins.
 */
function promptSteps(
  prompts: readonly PromptPoint[],
  prefillMs: readonly number[],
  budget: number,
): MeasuredStep[] {
  return prompts.flatMap(({ tokens, cached }, i): MeasuredStep[] => {
    if (tokens - cached <= budget) {
      const ms = Math.max(SHORTEST_STEP_MS, prefillMs[i]!);
      return [prefillStep({ tokens: tokens - cached, cached, ms })];
    }
    const begin = tokens - budget;
    const before = prompts.findIndex((other) => other.tokens === begin && other.cached === 0);
    const ms = prefillMs[i]! - (prefillMs[before] ?? Infinity);
    return ms > 0 ? [prefillStep({ tokens: budget, cached: begin, ms })] : [];
  });
}

/** Baton's metrics part a first token; vLLM's tell how long its prompt took. */
function partsByServer(
  { tokens, ttftMs, parts, enginePrefillMs }: PromptPoint,
  { isHandedOver }: Measurements,
  firstStepMs: (context: number) => number,
): Parted | undefined {
  const { prefill, transfer, first_step: firstStep } = parts;
  if (!isHandedOver) {
    const prefillMs = prefill ?? enginePrefillMs;
    if (prefillMs === undefined) return undefined;
    return { prefillMs, transferMs: undefined, overheadMs: ttftMs - prefillMs };
  }
  if (prefill === undefined || transfer === undefined || firstStep === undefined) return undefined;
  // Reading KV may be part of a transfer or of the first step; what is no step is a transfer.
  const stepMs = Math.min(firstStepMs(tokens), transfer + firstStep);
  const transferMs = transfer + firstStep - stepMs;
  return { prefillMs: prefill, transferMs, overheadMs: ttftMs - prefill - transferMs - stepMs };
}

/**
 * A prompt of one token takes a step as long as one of decode; what else passes until its first
 * token every request has.
 */
function partsByClient(
  { shortest, prompts, isHandedOver }: Measurements,
  firstStepMs: (context: number) => number,
): readonly Parted[] {
  const ownSteps = isHandedOver ? 2 : 1;
  const overheadMs = Math.max(
    0,
    shortest.ttftMs - ownSteps * firstStepMs(shortest.tokens) - (shortest.transferMs ?? 0),
  );
  return prompts.map(({ tokens, ttftMs, transferMs }) => {
    const onDecodeMs = isHandedOver ? firstStepMs(tokens) + (transferMs ?? 0) : 0;
    return { prefillMs: ttftMs - overheadMs - onDecodeMs, transferMs, overheadMs };
  });
}

function sourceOf({ isHandedOver }: Measurements, isTold: boolean, transfers: number): string {
  if (!isHandedOver) return 'nothing is transferred';
  if (transfers === 0) return 'the server does not tell; they are part of prefill';
  return isTold
    ? 'baton:time_to_first_token_part_seconds: from the held prompt to the first token − a ' +
        'decode step'
    : 'vllm:nixl_xfer_time_seconds';
}

/** A decode step of one sequence by its context. */
function stepsOfOne(decode: readonly DecodePoint[]): (context: number) => number {
  const fewest = Math.min(...decode.map(({ sequences }) => sequences));
  const own = decode.filter(({ sequences }) => sequences === fewest);
  return straight(own.map(({ context, stepMs }) => [context, stepMs]));
}
