import type { ExecutedRequest } from '@baton/contract';
import type { Body, JsonObjectText } from '../server/json-object-text';
import { decodeBody, HOLD, prefillBody } from './leg-bodies';

/** The client's request. */
export interface ClientRequest extends Omit<ExecutedRequest, 'text'> {
  readonly body: JsonObjectText;
}

/** The prefill leg of one transfer. Each run has its own leg, so a reference is used only once. */
export interface PrefillLeg {
  readonly body: JsonObjectText;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The parameters of the decode leg, if they are known before prefill answers. Both legs are then
   * sent at once.
   */
  readonly early?: Body;
  /** The parameters of the decode leg, from prefill's answer. Undefined: no KV is held. */
  decodeLegParams(answer: Body): Body | undefined;
}

/**
 * The transfer of KV between the servers of prefill and decode: the content and the time of each
 * leg.
 */
export interface KvConnector {
  prefillLeg(request: ClientRequest): PrefillLeg;
  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText;
  /**
   * Whether the connector has all facts that it needs from the prefill server; if not, it requests
   * them. Missing: it needs none.
   */
  isReady?(): Promise<boolean>;
  /** Called when the server stops, because another one can start at its address. */
  forget?(): void;
}

/** NIXL pull, vLLM's default: decode reads the blocks listed in prefill's answer. */
export const NIXL_PULL: KvConnector = {
  prefillLeg: ({ body }) => ({ body: prefillBody(body, HOLD), decodeLegParams: paramsIn }),
  decodeBody,
};

/** For a prefill whose blocks no decode engine reads, so that its server does not hold them. */
export const NO_TRANSFER: KvConnector = {
  prefillLeg: ({ body }) => ({
    body: prefillBody(body, undefined),
    decodeLegParams: () => undefined,
  }),
  decodeBody,
};

export function paramsIn(answer: Body): Body | undefined {
  const params = answer['kv_transfer_params'];
  return typeof params === 'object' && params !== null ? (params as Body) : undefined;
}
