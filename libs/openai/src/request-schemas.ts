import { type JsonSchema, schemaOf } from './body/json-schema';
import { ChatCompletionRequest } from './request/chat.dto';
import { CompletionRequest } from './request/completion.dto';
import { ChatCompletionBatchRequest } from './request/parse-chat-batch';
import { StrictChatFields, StrictCompletionFields } from './request/strict.dto';

/** The bodies of chats and completions, by their names in the OpenAPI description. */
export function chatSchemas() {
  return {
    ChatCompletionRequest: joined(schemaOf(ChatCompletionRequest), schemaOf(StrictChatFields)),
    ChatCompletionBatchRequest: schemaOf(ChatCompletionBatchRequest),
    CompletionRequest: joined(schemaOf(CompletionRequest), schemaOf(StrictCompletionFields)),
  };
}

/** The schema of a body, with its fields that are checked only with `strict`. */
function joined(body: JsonSchema, strict: JsonSchema): JsonSchema {
  const properties = { ...(body['properties'] as object), ...(strict['properties'] as object) };
  return { ...body, properties };
}
