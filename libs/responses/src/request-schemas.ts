import { schemaOf } from '@baton/openai';
import { ConversationDto } from './conversations';
import { ResponsesDto } from './responses.dto';

/** The bodies of responses and conversations, by their names in the OpenAPI description. */
export function responseSchemas() {
  return {
    ResponseRequest: schemaOf(new ResponsesDto()),
    ConversationRequest: schemaOf(new ConversationDto()),
  };
}
