import { randomUUID } from 'node:crypto';
import type { Body, JsonObjectText } from '../server/json-object-text';
import { type ClientRequest, type KvConnector, paramsIn, type PrefillLeg } from './kv-connector';
import { decodeBody, HOLD, prefillBody } from './leg-bodies';

/**
 * NIXL push, following vLLM's push proxy
 * (`examples/disaggregated/disaggregated_serving/disagg_proxy_pushconnector_demo.py`): decode gets
 * prefill's address, registers its blocks there, and prefill writes into them. The first answer of
 * the server contains that address, so the first leg is sent alone.
 */
export class NixlPush implements KvConnector {
  private coordinates: Body | undefined;

  prefillLeg({ body, requestId }: ClientRequest): PrefillLeg {
    const transfer = { remote_request_id: requestId, transfer_id: `xfer-${randomUUID()}` };
    const early = this.coordinates && { ...this.coordinates, ...transfer };
    return {
      body: prefillBody(body, { ...HOLD, transfer_id: transfer.transfer_id }),
      ...(early === undefined ? {} : { early }),
      decodeLegParams: (answer) => {
        this.coordinates = coordinatesIn(answer) ?? this.coordinates;
        return this.coordinates && { ...this.coordinates, ...transfer };
      },
    };
  }

  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
    return decodeBody(body, params);
  }

  /** A restarted server can have another engine id. */
  forget(): void {
    this.coordinates = undefined;
  }
}

/** Undefined when the answer contains no engine id: no KV is held then. */
function coordinatesIn(answer: Body): Body | undefined {
  const params = paramsIn(answer);
  if (typeof params?.['remote_engine_id'] !== 'string') return undefined;
  return {
    do_remote_decode: false,
    do_remote_prefill: true,
    remote_engine_id: params['remote_engine_id'],
    remote_host: params['remote_host'],
    remote_port: params['remote_port'],
    tp_size: params['tp_size'] ?? 1,
    pp_size: params['pp_size'] ?? 1,
    ...(params['dcp_size'] === undefined ? {} : { dcp_size: params['dcp_size'] }),
  };
}
