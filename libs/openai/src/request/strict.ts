import { checkedBody } from '../body/checked-body';
import type { Strictness } from '../limits';
import { valueError } from '../refusal/request-error';
import { ChatCompletionRequest } from './chat.dto';
import type { CompletionRequest } from './completion.dto';
import { StrictChatFields, StrictCompletionFields } from './strict.dto';

/**
 * vLLM's checks that Baton makes only with `strict`. Without it Baton serves such requests, or
 * refuses them with another message.
 */
export function checkStrictly(
  dto: ChatCompletionRequest | CompletionRequest,
  strict: Strictness,
): void {
  const isChat = dto instanceof ChatCompletionRequest;
  const type = isChat ? StrictChatFields : StrictCompletionFields;
  const { use_beam_search: hasBeams } = checkedBody(type, { ...dto }, { dialect: 'vllm' });
  if (isChat) {
    checkTemplateFlags(dto);
    checkToolParser(dto, strict);
  }
  if (hasBeams === true && dto.stream === true) {
    const message = 'Streaming is not currently supported with beam search';
    throw valueError({ field: 'use_beam_search', message });
  }
}
/** Checks the template flags. vLLM's default of `add_generation_prompt` is true in all cases. */
function checkTemplateFlags(dto: ChatCompletionRequest): void {
  if (dto.continue_final_message !== true || dto.add_generation_prompt === false) return;
  const message = 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.';
  throw valueError({ field: 'continue_final_message', message });
}

/** Checks the parser flags: a server recognises calls only with the parser of its model. */
function checkToolParser(
  dto: ChatCompletionRequest,
  { toolCallParser, enableAutoToolChoice }: Strictness,
): void {
  if ((dto.tools ?? []).length === 0) return;
  const choice = dto.tool_choice ?? 'auto';
  const hasParser = toolCallParser !== undefined;
  if (choice === 'auto' && !(hasParser && enableAutoToolChoice)) {
    const message =
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    throw valueError({ field: 'tool_choice', message });
  }
  if (choice === 'required' && !hasParser) {
    const message = 'tool_choice="required" requires --tool-call-parser to be set';
    throw valueError({ field: 'tool_choice', message });
  }
}
