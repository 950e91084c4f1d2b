import { schemaOf } from '@baton/openai';
import { ConversationRequest } from './conversations';
import { CreateResponse } from './responses.dto';

/** The bodies of responses and conversations, by their names in the OpenAPI description. */
export function responseSchemas() {
  return {
    ResponseRequest: schemaOf(CreateResponse),
    ConversationRequest: schemaOf(ConversationRequest),
  };
}
