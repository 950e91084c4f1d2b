import { messageSchemas } from '@baton/anthropic';
import { chatSchemas, type JsonSchema } from '@baton/openai';
import { poolingSchemas } from '@baton/pooling';
import { responseSchemas } from '@baton/responses';
import { tokenSchemas } from '@baton/token-api';

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
