import { schemaError } from '../refusal/schema-error';
import { valueError } from '../refusal/request-error';
import type { Strictness } from '../limits';
import type { ChatDto } from './chat.dto';
import type { CompletionDto } from './completion.dto';
import { StrictChatDto } from './strict.dto';

/** First integer above a signed integer of 64 bits. */
const INT64_END = 2 ** 63;

/**
 * vLLM's checks that Baton makes only with `strict`. Without it Baton serves such requests, or
 * refuses them with another message.
 */
export function checkStrictly(dto: ChatDto | CompletionDto, strict: Strictness): void {
  for (const field of ['seed', 'priority'] as const) checkInt64(field, dto[field]);
  if (dto instanceof StrictChatDto) {
    checkTemplateFlags(dto);
    checkToolParser(dto, strict);
  }
  const hasBeams = 'use_beam_search' in dto && dto.use_beam_search === true;
  if (hasBeams && dto.stream === true) {
    const message = 'Streaming is not currently supported with beam search';
    throw valueError({ field: 'use_beam_search', message });
  }
}

function checkInt64(field: string, input: number | null | undefined): void {
  if (typeof input !== 'number') return;
  const place = { place: [field], location: [field], input, expected: 'an integer of 64 bits' };
  if (input >= INT64_END) {
    const message = 'Input should be less than or equal to 9223372036854775807';
    throw schemaError([{ ...place, type: 'less_than_equal', message }]);
  }
  if (input < -INT64_END) {
    const message = 'Input should be greater than or equal to -9223372036854775808';
    throw schemaError([{ ...place, type: 'greater_than_equal', message }]);
  }
}

/** Checks the template flags. vLLM's default of `add_generation_prompt` is true in all cases. */
function checkTemplateFlags(dto: ChatDto): void {
  if (dto.continue_final_message !== true || dto.add_generation_prompt === false) return;
  const message = 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.';
  throw valueError({ field: 'continue_final_message', message });
}

/** Checks the parser flags: a server recognises calls only with the parser of its model. */
function checkToolParser(dto: ChatDto, { toolCallParser, enableAutoToolChoice }: Strictness): void {
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
