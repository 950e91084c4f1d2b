import { asciiJson, rawArray, type RawJson, rawObject } from '@baton/text';
import type { GenerationRequest } from '../generation-request';
import type { FinalChoice, FinalParts } from './render-final';

/** OpenAI's JSON answers. vLLM's additional keys appear when the request has their fields. */
export function openaiBody(parts: FinalParts, choices: readonly RawJson[]): RawJson {
  const { request, head } = parts;
  const isChat = request.endpoint === 'chat';
  const [first] = parts.choices;
  const requested = request.kvTransferParams !== undefined;
  return rawObject({
    id: asciiJson(head.id),
    object: isChat ? '"chat.completion"' : '"text_completion"',
    created: String(head.created),
    model: asciiJson(head.model),
    system_fingerprint: asciiJson(head.systemFingerprint),
    choices: rawArray(choices),
    usage: parts.usage,
    service_tier: request.serviceTier === undefined ? undefined : asciiJson(request.serviceTier),
    prompt_logprobs: isChat ? first?.promptLogprobs : undefined,
    prompt_token_ids: isChat ? first?.promptTokenIds : undefined,
    prompt_text: first?.promptText,
    kv_transfer_params: requested ? (parts.kvTransferParams ?? 'null') : undefined,
    ...parts.extras,
  });
}

export function openaiChoice(request: GenerationRequest, choice: FinalChoice): RawJson {
  const index = String(choice.index);
  const outcome = {
    logprobs: choice.logprobs,
    finish_reason: `"${choice.reason}"`,
    ...choice.extras,
  };
  if (request.endpoint === 'chat') {
    const message = rawObject({
      role: '"assistant"',
      content: choice.text,
      refusal: 'null',
      annotations: '[]',
      tool_calls: choice.toolCalls,
      function_call: choice.functionCall,
      reasoning_content: choice.reasoning,
    });
    return rawObject({ index, message, ...outcome, token_ids: choice.tokenIds });
  }
  return rawObject({
    text: choice.text,
    index,
    ...outcome,
    token_ids: choice.tokenIds,
    prompt_token_ids: choice.promptTokenIds,
    prompt_logprobs: request.promptLogprobs === undefined ? undefined : choice.promptLogprobs,
  });
}
