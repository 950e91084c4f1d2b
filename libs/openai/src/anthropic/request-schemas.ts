import { schemaOf } from '../request/rules';
import { CountTokensDto, MessagesDto } from './messages.dto';

/** The bodies of messages, by their names in the OpenAPI description. */
export function messageSchemas() {
  return {
    MessagesRequest: schemaOf(new MessagesDto()),
    CountTokensRequest: schemaOf(new CountTokensDto()),
  };
}
