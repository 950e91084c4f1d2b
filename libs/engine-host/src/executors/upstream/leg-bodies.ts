import type { Body, JsonObjectText } from '../server/json-object-text';

/**
 * The parameters that vLLM's proxies send to a prefill instance, without the still unknown part of
 * the decode instance.
 */
export const HOLD: Body = {
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
};

/**
 * The body of the prefill leg, like that of vLLM's toy proxy
 * (`tests/v1/kv_connector/nixl_integration/toy_proxy_server.py`): the client's body with one token,
 * not streamed, and with the order to hold, if any. Baton adds no field.
 */
export function prefillBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
  return body.with({
    stream_options: undefined,
    min_tokens: undefined,
    min_completion_tokens: undefined,
    stream: false,
    max_tokens: 1,
    ...(body.has('max_completion_tokens') ? { max_completion_tokens: 1 } : {}),
    ...(params === undefined ? {} : { kv_transfer_params: params }),
  });
}

/**
 * The body of the decode leg: the client's body and the parameters of prefill's answer. Without
 * such an answer, decode computes the prompt itself.
 */
export function decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
  return params === undefined ? body : body.with({ kv_transfer_params: params });
}
