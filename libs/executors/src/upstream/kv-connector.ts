import type { ExecutedRequest } from '@baton/contract';
import type { Body, JsonObjectText } from '../server/json-object-text';
import { decodeBody, HOLD, prefillBody } from './leg-bodies';

/** The client's request. */
export interface ClientRequest extends Omit<ExecutedRequest, 'text'> {
  readonly body: JsonObjectText;
}

/** The prefill leg of one transfer. Every run has its own, so no reference is ever used twice. */
export interface PrefillLeg {
  readonly body: JsonObjectText;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The parameters of the decode leg if they are known before prefill answers; both legs are then
   * sent at once.
   */
  readonly early?: Body;
  /** The parameters of the decode leg, from prefill's answer; undefined when nothing was held. */
  learn(answer: Body): Body | undefined;
}

/**
 * The transfer of KV between the servers of prefill and decode: the content and the time of each
 * leg.
 */
export interface KvConnector {
  prefillLeg(request: ClientRequest): PrefillLeg;
  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText;
  /**
   * Whether it has everything it needs from the prefill server; requests the rest. Unset: it needs
   * nothing.
   */
  isReady?(): Promise<boolean>;
  /** The server went down; another one may come up in its place. */
  forget?(): void;
}

/** NIXL pull, vLLM's default: decode reads the blocks that prefill's answer names. */
export const NIXL_PULL: KvConnector = {
  prefillLeg: ({ body }) => ({ body: prefillBody(body, HOLD), learn: paramsIn }),
  decodeBody,
};

/** No decode reads the blocks of this prefill, so its server need not hold them. */
export const NO_TRANSFER: KvConnector = {
  prefillLeg: ({ body }) => ({ body: prefillBody(body, undefined), learn: () => undefined }),
  decodeBody,
};

export function paramsIn(answer: Body): Body | undefined {
  const params = answer['kv_transfer_params'];
  return typeof params === 'object' && params !== null ? (params as Body) : undefined;
}
