/**
 * vLLM's eleven `kv_transfer_params` fields as a prefill instance answers them (NIXL pull connector,
 * vllm/distributed/kv_transfer/kv_connector/v1/nixl/pull_scheduler.py).
 */
export interface KvTransferParams {
  readonly do_remote_prefill: boolean;
  readonly do_remote_decode: boolean;
  /** One list per KV cache group. */
  readonly remote_block_ids: readonly (readonly number[])[] | null;
  readonly remote_engine_id: string | null;
  readonly remote_request_id: string | null;
  readonly remote_host: string | null;
  readonly remote_port: number | null;
  readonly tp_size: number;
  readonly remote_num_tokens: number;
  readonly remote_blocks_expiry_time: number | null;
  readonly transfer_mode: 'pull' | 'push';
}

/** What an outside router asks a prefill instance with. */
export function asksToHold(params: unknown): boolean {
  return isObject(params) && params['do_remote_decode'] === true;
}

/** What an outside router brings to a decode instance. */
export function bringsKv(params: unknown): boolean {
  return isObject(params) && params['do_remote_prefill'] === true;
}

/**
 * The parameters of a prefill answer, or undefined when a field that a read needs is missing or of the wrong type.
 * vLLM then serves the request without a transfer; it never raises an HTTP error.
 */
export function parseKvTransferParams(value: unknown): KvTransferParams | undefined {
  if (!isObject(value) || !bringsKv(value)) return undefined;
  const engineId = value['remote_engine_id'];
  const requestId = value['remote_request_id'];
  const host = value['remote_host'];
  const port = value['remote_port'];
  const blockIds = value['remote_block_ids'];
  const readable =
    typeof engineId === 'string' &&
    typeof requestId === 'string' &&
    typeof host === 'string' &&
    Number.isInteger(port) &&
    isBlockIds(blockIds);
  if (!readable) return undefined;
  return {
    do_remote_prefill: true,
    do_remote_decode: false,
    remote_block_ids: blockIds,
    remote_engine_id: engineId,
    remote_request_id: requestId,
    remote_host: host,
    remote_port: port as number,
    tp_size: positiveInteger(value['tp_size']) ?? 1,
    remote_num_tokens: positiveInteger(value['remote_num_tokens']) ?? 0,
    remote_blocks_expiry_time: null,
    transfer_mode: value['transfer_mode'] === 'push' ? 'push' : 'pull',
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlockIds(value: unknown): value is number[][] {
  return (
    Array.isArray(value) &&
    value.every((group) => Array.isArray(group) && group.every((id) => Number.isInteger(id)))
  );
}

function positiveInteger(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
