import { ChatBatchDto } from './request/parse-chat-batch';
import { schemaOf } from './request/rules';
import { StrictChatDto, StrictCompletionDto } from './request/strict.dto';

/** The bodies of chats and completions, by their names in the OpenAPI description. */
export function chatSchemas() {
  return {
    ChatCompletionRequest: schemaOf(new StrictChatDto()),
    ChatCompletionBatchRequest: schemaOf(new ChatBatchDto()),
    CompletionRequest: schemaOf(new StrictCompletionDto()),
  };
}
