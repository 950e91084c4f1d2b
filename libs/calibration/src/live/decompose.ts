import { median } from '@baton/kernel';
import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';
import type { KvTransfer } from '../formats/measured';
import type { DecodePoint } from './measure-decode';
import type { PromptPoint } from './measure-prompts';
import { straight } from './statistics';

/** Measurements of an otherwise idle cluster. */
export interface Measurements {
  /** The shortest possible prompt: the cost of a request besides its tokens. */
  readonly shortest: PromptPoint;
  readonly prompts: readonly PromptPoint[];
  readonly decode: readonly DecodePoint[];
  /** True when one engine computes a prompt and another one its answer. */
  readonly isHandedOver: boolean;
  /** Maximum number of tokens of a step. */
  readonly maxNumBatchedTokens: number;
  /** Bytes of KV per token by the counters of the readers. Undefined without such counters. */
  readonly kvBytesPerToken: number | undefined;
}

/** The measured times, attributed to engines, transfers and overhead. */
export interface EngineTimes {
  readonly steps: readonly MeasuredStep[];
  /**
   * Time per request between client and engine (HTTP, API, queues), ms. It is outside of all steps.
   */
  readonly overheadMs: number;
  readonly overheadFrom: string;
  /** One transfer per prompt length. Empty when transfers cannot be separated from prefill. */
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

/** Prompts without any cached token, by their length. */
export function wholePrompts({ prompts }: Measurements): readonly PromptPoint[] {
  return prompts.filter(({ cached }) => cached === 0);
}

/** Splits times to first token into steps of engines, transfers of KV, and overhead. */
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
    transfers,
    transfersFrom: sourceOf(measured, isTold, transfers.length),
    kvBytesPerToken: measured.kvBytesPerToken,
  };
}

/**
 * A prompt of one step is a step. The last step of a longer prompt is its time minus that of the
 * prompt that ends where this step begins.
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

/** Baton's metrics split the time to a first token. vLLM's have only the time of its prompt. */
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
  // Reading KV may be part of a transfer or of the first step. Time outside of steps counts as
  // transfer.
  const stepMs = Math.min(firstStepMs(tokens), transfer + firstStep);
  const transferMs = transfer + firstStep - stepMs;
  return { prefillMs: prefill, transferMs, overheadMs: ttftMs - prefill - transferMs - stepMs };
}

/**
 * The step of a prompt of one token takes as long as a decode step. The rest of its time to first
 * token is overhead of every request.
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
  if (!isHandedOver) return 'no KV is transferred';
  if (transfers === 0) return 'the server has no metric of them; they are part of prefill';
  return isTold
    ? 'baton:time_to_first_token_part_seconds: from the held prompt to the first token − a ' +
        'decode step'
    : 'vllm:nixl_xfer_time_seconds';
}

/** The time of a decode step of one sequence, by its context. */
function stepsOfOne(decode: readonly DecodePoint[]): (context: number) => number {
  const fewest = Math.min(...decode.map(({ sequences }) => sequences));
  const own = decode.filter(({ sequences }) => sequences === fewest);
  return straight(own.map(({ context, stepMs }) => [context, stepMs]));
}
