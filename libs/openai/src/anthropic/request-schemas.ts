import { schemaOf } from '../body/json-schema';
import { CountTokensRequest, MessagesRequest } from './messages.dto';

/** The bodies of messages, by their names in the OpenAPI description. */
export function messageSchemas() {
  return {
    MessagesRequest: schemaOf(MessagesRequest),
    CountTokensRequest: schemaOf(CountTokensRequest),
  };
}
