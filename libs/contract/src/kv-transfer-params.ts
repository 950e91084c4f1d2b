import { isObject } from '@baton/kernel';

/**
 * vLLM's eleven `kv_transfer_params` fields, as a prefill instance returns them (NIXL pull
 * connector, vllm/distributed/kv_transfer/kv_connector/v1/nixl/pull_scheduler.py).
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

/** Whether these are the parameters that an outside router sends to a prefill instance. */
export function wantsRemoteDecode(params: unknown): boolean {
  return isObject(params) && params['do_remote_decode'] === true;
}

/** Whether these are the parameters that an outside router sends to a decode instance. */
export function hasRemotePrefill(params: unknown): boolean {
  return isObject(params) && params['do_remote_prefill'] === true;
}

/**
 * The parameters of a prefill answer, or undefined when a field that a read needs is missing or of
 * the wrong type. vLLM then serves the request without a transfer; it never raises an HTTP error.
 */
export function parseKvTransferParams(value: unknown): KvTransferParams | undefined {
  return isObject(value) && hasRemotePrefill(value) ? namedBlocks(value) : undefined;
}

/**
 * The parameters that decode returned for its kept blocks, sent to prefill with the next turn of
 * the conversation (vLLM's `bidirectional_kv_xfer`); undefined when the parameters request a hold
 * and name no blocks, or no valid ones.
 */
export function parseKeptKvParams(value: unknown): KvTransferParams | undefined {
  if (!isObject(value) || !wantsRemoteDecode(value) || hasRemotePrefill(value)) return undefined;
  if (faultOfKept(value) !== undefined) return undefined;
  return namedBlocks(value);
}

function namedBlocks(value: Readonly<Record<string, unknown>>): KvTransferParams | undefined {
  if (!Object.entries(NEEDED).every(([name, isFit]) => isFit(value[name]))) return undefined;
  const expiry = value['remote_blocks_expiry_time'];
  return {
    do_remote_prefill: hasRemotePrefill(value),
    do_remote_decode: wantsRemoteDecode(value),
    remote_block_ids: value['remote_block_ids'] as number[][],
    remote_engine_id: value['remote_engine_id'] as string,
    remote_request_id: value['remote_request_id'] as string,
    remote_host: value['remote_host'] as string,
    remote_port: value['remote_port'] as number,
    tp_size: positiveInteger(value['tp_size']) ?? 1,
    remote_num_tokens: positiveInteger(value['remote_num_tokens']) ?? 0,
    remote_blocks_expiry_time: typeof expiry === 'number' ? expiry : null,
    transfer_mode: value['transfer_mode'] === 'push' ? 'push' : 'pull',
  };
}

/**
 * One sentence about an error that vLLM ignores and a strict server refuses; undefined when there
 * is none.
 */
export function faultOfKvTransferParams(
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  const flags = ['do_remote_prefill', 'do_remote_decode'] as const;
  const wrong = flags.find((flag) => !isFlag(value[flag]));
  if (wrong !== undefined) return `kv_transfer_params.${wrong} must be true or false.`;
  if (wantsRemoteDecode(value) && hasRemotePrefill(value)) {
    return 'kv_transfer_params ask for prefill and for decode at once.';
  }
  if (hasRemotePrefill(value)) return faultOf(value, NEEDED);
  return wantsRemoteDecode(value) && value['remote_block_ids'] != null
    ? faultOfKept(value)
    : undefined;
}

type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

function faultOf(value: Readonly<Record<string, unknown>>, fields: Fields): string | undefined {
  const needed = Object.entries(fields).filter(([name, isFit]) => !isFit(value[name]));
  if (needed.length === 0) return undefined;
  const names = needed.map(([name]) => name).join(', ');
  return `kv_transfer_params cannot name KV blocks: missing or of the wrong type: ${names}.`;
}

function faultOfKept(value: Readonly<Record<string, unknown>>): string | undefined {
  return faultOf(value, { ...NEEDED, ...OF_KEPT });
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isFlag = (value: unknown): boolean => value == null || typeof value === 'boolean';

/** The fields that every read needs. */
const NEEDED: Fields = {
  remote_engine_id: isText,
  remote_request_id: isText,
  remote_host: isText,
  remote_port: Number.isInteger,
  remote_block_ids: isBlockIds,
};

/** Further fields for blocks that decode has kept. */
const OF_KEPT: Fields = {
  remote_num_tokens: (value) => positiveInteger(value) !== undefined,
  remote_blocks_expiry_time: (value) => value == null || typeof value === 'number',
};

function isBlockIds(value: unknown): value is number[][] {
  return (
    Array.isArray(value) &&
    value.every((group) => Array.isArray(group) && group.every((id) => Number.isInteger(id)))
  );
}

function positiveInteger(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
