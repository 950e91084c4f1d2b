import {
  wantsRemoteDecode,
  hasRemotePrefill,
  faultOfKvTransferParams,
  type KvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  type Stage,
} from '@baton/contract';
import type { FinishedSequence, GenerationRequest } from '@baton/openai';
import { type JsonFields, textIn } from '@baton/kernel';
import type { Tokenizer } from '@baton/text';
import type { HeldFacts } from '../request/answer/answer';

/** The place of a call in an outside router's hand-over. */
export interface LegFacts {
  readonly params: JsonFields | undefined;
  readonly body: unknown;
  /** The client's own `X-Request-Id`. */
  readonly clientRequestId: string | undefined;
  /** The stage of the engine when the call came in at the engine's own port. */
  readonly stage: Stage | undefined;
}

/**
 * One leg of an outside router's hand-over. `hold` may bring the blocks that decode has `kept` of
 * the previous turn. `attach` brings prefill's answer; `meet` does not wait for that answer and
 * names the pair instead. `unusable`: malformed in this field, so the request is served without a
 * transfer. `none` is no leg here, though its answer may have fields of one.
 */
export type Leg =
  | { readonly kind: 'none' }
  | { readonly kind: 'none'; readonly shows: Shows }
  | {
      readonly kind: 'hold';
      readonly pairs: readonly string[];
      readonly shows: Shows;
      readonly earlierParams?: KvTransferParams;
    }
  | { readonly kind: 'attach'; readonly params: KvTransferParams; readonly causeUs?: number }
  | { readonly kind: 'meet'; readonly pair: string }
  | { readonly kind: 'unusable'; readonly why: string; readonly field?: string };

/** A leg with a known other leg, where it needs one. */
export type SettledLeg = Exclude<Leg, { kind: 'meet' }>;

/** What the engines have generated for a leg. */
export interface Generated {
  readonly request: GenerationRequest;
  /** One per sequence. */
  readonly results: readonly FinishedSequence[];
  readonly tokenizer: Tokenizer;
}

/** The fields that a leg gets besides its token. `held` is undefined when no prompt is held. */
export type Shows = (held: JsonFields | undefined, generated: Generated) => HeldFacts;

/** For the leg of a router that has sent the other leg already. */
export const showsNothing: Shows = () => ({ kvTransferParams: undefined });
const showsParams: Shows = (kvTransferParams) => ({ kvTransferParams });

/** The leg in vLLM's own `kv_transfer_params`; undefined: they name none. */
export function legOf(
  params: JsonFields | undefined,
  clientRequestId: string | undefined,
): Leg | undefined {
  if (params === undefined) return undefined;
  if (hasRemotePrefill(params)) return decodeLeg(params);
  return wantsRemoteDecode(params) ? prefillLeg(params, clientRequestId) : undefined;
}

function prefillLeg(params: JsonFields, id: string | undefined): Leg {
  const transferId = textIn(params['transfer_id']);
  const pairs = [
    ...(transferId === undefined ? [] : [pairOfTransfer(transferId)]),
    ...(id === undefined ? [] : [pairOfRequest(id)]),
  ];
  if (transferId === undefined) {
    const earlierParams = parseKeptKvParams(params);
    return { kind: 'hold', pairs, shows: showsParams, ...(earlierParams && { earlierParams }) };
  }
  // Mooncake's decode leg is under way already.
  const isMooncake = !('remote_engine_id' in params);
  return { kind: 'hold', pairs, shows: isMooncake ? showsNothing : showsTransfer(transferId) };
}

function showsTransfer(transferId: string): Shows {
  return (held) => ({ kvTransferParams: held && { ...held, transfer_id: transferId } });
}

/**
 * A request that names blocks follows an answer of prefill. `transfer_id` and the request's id are
 * for requests without one.
 */
function decodeLeg(raw: JsonFields): Leg {
  const params = parseKvTransferParams(raw);
  if (params !== undefined) return { kind: 'attach', params };
  const transferId = textIn(raw['transfer_id']);
  if (transferId !== undefined) return { kind: 'meet', pair: pairOfTransfer(transferId) };
  const requestId = textIn(raw['remote_request_id']);
  const isPush = raw['remote_block_ids'] == null && textIn(raw['remote_engine_id']) !== undefined;
  if (isPush && requestId !== undefined) return { kind: 'meet', pair: pairOfRequest(requestId) };
  return {
    kind: 'unusable',
    why: faultOfKvTransferParams(raw) ?? 'kv_transfer_params are malformed.',
  };
}

/** A leg whose place in the hand-over is that of the engine at whose port it came in. */
export function legAtStage(stage: Stage | undefined, pair: string): Leg {
  if (stage === 'prefill') return { kind: 'hold', pairs: [pair], shows: showsNothing };
  return stage === 'decode' ? { kind: 'meet', pair } : { kind: 'none' };
}

export const pairOfTransfer = (id: string): string => `transfer ${id}`;
export const pairOfRequest = (id: string): string => `request ${id}`;
