import { asciiJson, rawArray, type RawJson, rawObject } from '@baton/text';
import type { Endpoint } from '../generation-request';
import type { FinalChoice, FinalParts } from './render-final';

/** The fields of an answer's parts that vLLM's shape uses. */
type VllmParts = Omit<FinalParts, 'request'> & {
  readonly request: Pick<FinalParts['request'], 'endpoint' | 'serviceTier'>;
};

/** vLLM's JSON answers: every field of its classes in their order, including nulls. */
export function vllmBody(parts: VllmParts, choices: readonly RawJson[]): RawJson {
  const { request, head } = parts;
  const isChat = request.endpoint === 'chat';
  const [first] = parts.choices;
  return rawObject({
    id: asciiJson(head.id),
    object: isChat ? '"chat.completion"' : '"text_completion"',
    created: String(head.created),
    model: asciiJson(head.model),
    choices: rawArray(choices),
    service_tier: request.serviceTier === undefined ? 'null' : asciiJson(request.serviceTier),
    system_fingerprint: asciiJson(head.systemFingerprint),
    usage: parts.usage,
    prompt_logprobs: isChat ? (first?.promptLogprobs ?? 'null') : undefined,
    prompt_token_ids: isChat ? (first?.promptTokenIds ?? 'null') : undefined,
    prompt_text: isChat ? (first?.promptText ?? 'null') : undefined,
    kv_transfer_params: parts.kvTransferParams ?? 'null',
    ec_transfer_params: 'null',
    metrics: 'null',
    ...parts.extras,
  });
}

export function vllmChoice(endpoint: Endpoint, choice: FinalChoice): RawJson {
  const outcome = {
    logprobs: choice.logprobs,
    finish_reason: `"${choice.reason}"`,
    stop_reason: asciiJson(choice.stopReason),
    token_ids: choice.tokenIds ?? 'null',
    ...choice.extras,
  };
  const index = String(choice.index);
  if (endpoint === 'chat') {
    return rawObject({ index, message: message(choice), ...outcome, routed_experts: 'null' });
  }
  return rawObject({
    index,
    text: choice.text,
    ...outcome,
    prompt_logprobs: choice.promptLogprobs ?? 'null',
    prompt_token_ids: choice.promptTokenIds ?? 'null',
    routed_experts: 'null',
  });
}

function message(choice: FinalChoice): RawJson {
  return rawObject({
    role: '"assistant"',
    content: choice.text,
    refusal: 'null',
    annotations: 'null',
    audio: 'null',
    function_call: choice.functionCall ?? 'null',
    tool_calls: choice.toolCalls,
    reasoning: choice.reasoning ?? 'null',
  });
}
