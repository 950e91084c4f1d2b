import {
  wantsRemoteDecode,
  hasRemotePrefill,
  faultOfKvTransferParams,
  type KvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  type Stage,
} from '@baton/contract';
import { fieldsIn, textIn } from '@baton/kernel';
import { type DisaggregatedParams, disaggregatedParamsOf } from './disaggregated-params';

/** The place of a call in an outside router's hand-over. */
export interface LegFacts {
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly body: unknown;
  /** The client's own `X-Request-Id`. */
  readonly clientRequestId: string | undefined;
  /** The stage of the engine when the call came in at the engine's own port. */
  readonly stage: Stage | undefined;
}

/**
 * One leg of an outside router's hand-over. `hold` may bring the blocks that decode has `kept` of
 * the previous turn. `attach` brings prefill's answer; `meet` does not wait for that answer and
 * names the pair instead. `unusable`: malformed, so the request is served without a transfer.
 * `none` is no leg here, though LMCache's proxy needs its token.
 */
export type Leg =
  | { readonly kind: 'none'; readonly reply?: 'first-token' }
  | {
      readonly kind: 'hold';
      readonly pairs: readonly string[];
      readonly reply: HoldReply;
      readonly earlierParams?: KvTransferParams;
    }
  | { readonly kind: 'attach'; readonly params: KvTransferParams; readonly causeUs?: number }
  | { readonly kind: 'meet'; readonly pair: string }
  | { readonly kind: 'unusable'; readonly why: string };

/** A leg with a known other leg, where it needs one. */
export type SettledLeg = Exclude<Leg, { kind: 'meet' }>;

/**
 * The fields that a prefill leg gets besides its token: none for Mooncake's, because the other leg
 * is already under way.
 */
export type HoldReply =
  | 'params'
  | 'nothing'
  | { readonly transferId: string }
  /** TensorRT-LLM's form, under its number. */
  | { readonly disaggregatedId: string | undefined };

/** P2pNccl and MoRI-IO write both ends of a hand-over into the request's id. */
export const ADDRESSES_IN_ID = /^(?:chat)?(?:cmpl-)?___prefill_addr_.+___decode_addr_.+$/;

export function legOf(facts: LegFacts): Leg {
  const { params } = facts;
  if (params === undefined) {
    const disaggregated = disaggregatedParamsOf(facts.body);
    return disaggregated === undefined ? legWithoutParams(facts) : disaggregatedLeg(disaggregated);
  }
  if (hasRemotePrefill(params)) return decodeLeg(params);
  if (wantsRemoteDecode(params)) return prefillLeg(params, facts.clientRequestId);
  return params['ret_first_tok'] === true
    ? { kind: 'none', reply: 'first-token' }
    : { kind: 'none' };
}

/**
 * When the context leg comes first, the generation leg brings the context server's params;
 * otherwise both legs are under way and paired by their number.
 */
function disaggregatedLeg({ requestType, id, params, fault }: DisaggregatedParams): Leg {
  const pair = id === undefined ? undefined : pairOfTransfer(`trtllm ${id}`);
  if (fault !== undefined) return { kind: 'unusable', why: fault };
  if (requestType === 'context_and_generation') return { kind: 'none' };
  if (requestType === 'context_only') {
    const pairs = pair === undefined ? [] : [pair];
    return { kind: 'hold', pairs, reply: { disaggregatedId: id } };
  }
  if (params === undefined && pair !== undefined) return { kind: 'meet', pair };
  const held = parseKvTransferParams(params);
  const why = 'disaggregated_params name no prompt that a context server here holds.';
  return held === undefined ? { kind: 'unusable', why } : { kind: 'attach', params: held };
}

function prefillLeg(params: Readonly<Record<string, unknown>>, id: string | undefined): Leg {
  const transferId = textIn(params['transfer_id']);
  const pairs = [
    ...(transferId === undefined ? [] : [pairOfTransfer(transferId)]),
    ...(id === undefined ? [] : [pairOfRequest(id)]),
  ];
  if (transferId === undefined) {
    const earlierParams = parseKeptKvParams(params);
    return { kind: 'hold', pairs, reply: 'params', ...(earlierParams && { earlierParams }) };
  }
  const isMooncake = !('remote_engine_id' in params);
  return { kind: 'hold', pairs, reply: isMooncake ? 'nothing' : { transferId } };
}

/**
 * A request that names blocks follows an answer of prefill. `transfer_id` and the request's id are
 * for requests without one.
 */
function decodeLeg(raw: Readonly<Record<string, unknown>>): Leg {
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

/** Flows in which the engine's stage decides which leg it is. */
function legWithoutParams({ body, clientRequestId, stage }: LegFacts): Leg {
  const room = roomOf(body);
  const isAddressed = clientRequestId !== undefined && ADDRESSES_IN_ID.test(clientRequestId);
  const pair = room ?? (isAddressed ? pairOfRequest(clientRequestId) : undefined);
  if (pair === undefined) return { kind: 'none' };
  if (stage === 'prefill') return { kind: 'hold', pairs: [pair], reply: 'nothing' };
  return stage === 'decode' ? { kind: 'meet', pair } : { kind: 'none' };
}

/** SGLang's routers give both legs a number. */
function roomOf(body: unknown): string | undefined {
  const { bootstrap_room: room } = fieldsIn(body);
  // A batch has one room per prompt; only the first prompt is handed over.
  const first: unknown = Array.isArray(room) ? room[0] : room;
  return typeof first === 'number' ? `room ${first}` : undefined;
}

const pairOfTransfer = (id: string): string => `transfer ${id}`;
const pairOfRequest = (id: string): string => `request ${id}`;
