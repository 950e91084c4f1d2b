import type { Dialect } from '@baton/openai';
import type { FieldRule, TypeRules } from './field-rule';

const isAbsent: FieldRule = { isAbsent: true };
const text = { type: 'string' };
const absent = (...names: readonly string[]): Record<string, FieldRule> =>
  Object.fromEntries(names.map((name) => [name, isAbsent]));

/** Anthropic documents `request_too_large` for 413, which its client's types leave out. */
const ANTHROPIC: TypeRules = {
  InvalidRequestErrorObject: { type: { also: { const: 'request_too_large' } } },
};

/**
 * vLLM's messages have no nulls and lack most of Anthropic's counts. Its errors have vLLM's names.
 */
const VLLM: TypeRules = {
  Message: {
    ...absent('container', 'diagnostics', 'stop_details', 'stop_sequence'),
    kv_transfer_params: { extra: { type: 'object' } },
  },
  Usage: absent(
    ...['cache_creation', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
    ...['inference_geo', 'output_tokens_details', 'server_tool_use', 'service_tier', 'speed'],
  ),
  MessageDeltaUsage: absent(
    ...['cache_creation_input_tokens', 'cache_read_input_tokens'],
    ...['output_tokens_details', 'server_tool_use'],
  ),
  'RawMessageDeltaEvent.Delta': absent('container', 'stop_details', 'stop_sequence'),
  TextBlock: absent('citations'),
  ToolUseBlock: absent('caller'),
  MessageTokensCount: { context_management: { extra: { type: 'object' } } },
  ErrorResponse: absent('request_id'),
  InvalidRequestErrorObject: { type: { also: text } },
};

/** Every permitted difference between a message and the types of Anthropic's client. */
export function anthropicExtras(dialect: Dialect): TypeRules {
  return dialect === 'openai' ? ANTHROPIC : VLLM;
}
