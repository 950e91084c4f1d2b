import { isObject, objectIn } from '@baton/kernel';

/**
 * A leg in the form of TensorRT-LLM's orchestrator (`DisaggregatedParams` of
 * tensorrt_llm/serve/openai_protocol.py); only the fields that Baton uses.
 */
export interface DisaggregatedParams {
  readonly requestType: 'context_only' | 'generation_only' | 'context_and_generation';
  /** The orchestrator's request number, as digits; both legs carry it. */
  readonly id: string | undefined;
  /** The context server's opaque state: here the kv_transfer_params of the held prompt. */
  readonly params: Readonly<Record<string, unknown>> | undefined;
  /** The reason why it is invalid, in one sentence. */
  readonly fault: string | undefined;
}

const TYPES = ['context_only', 'generation_only', 'context_and_generation'] as const;

/** Undefined for a body without `disaggregated_params`. */
export function disaggregatedParamsOf(body: unknown): DisaggregatedParams | undefined {
  const value = isObject(body) ? body['disaggregated_params'] : undefined;
  if (!isObject(value)) return undefined;
  const requestType = TYPES.find((type) => type === value['request_type']);
  const ids = [value['disagg_request_id'], value['ctx_request_id']].map(digitsOf);
  const id = ids.find((digits) => digits !== undefined);
  const state = value['encoded_opaque_state'];
  const params =
    typeof state === 'string' ? objectIn(Buffer.from(state, 'base64').toString()) : undefined;
  const wrong =
    (requestType === undefined && `request_type must be one of ${TYPES.join(', ')}`) ||
    (state != null && params === undefined && 'encoded_opaque_state is of no server here');
  return {
    requestType: requestType ?? 'context_and_generation',
    id,
    params,
    fault: wrong === false ? undefined : `disaggregated_params: ${wrong}.`,
  };
}

/** Opaque to the orchestrator, which passes it to the generation server. */
export function opaqueStateOf(params: Readonly<Record<string, unknown>>): string {
  return Buffer.from(JSON.stringify(params)).toString('base64');
}

function digitsOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^-?\d{1,20}$/.test(text) ? text : undefined;
}
