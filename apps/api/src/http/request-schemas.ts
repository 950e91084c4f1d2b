import {
  messageSchemas,
  chatSchemas,
  type JsonSchema,
  poolingSchemas,
  tokenSchemas,
} from '@baton/openai';
import { responseSchemas } from '@baton/responses';

/** The bodies of requests, by their schema names in the API description. */
export function requestSchemas() {
  return {
    ...chatSchemas(),
    ...responseSchemas(),
    ...messageSchemas(),
    ...poolingSchemas(),
    ...tokenSchemas(),
  } satisfies Record<string, JsonSchema>;
}
