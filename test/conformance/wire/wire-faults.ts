import type { Dialect, Endpoint } from '@baton/openai';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { anthropicExtras } from './anthropic-extras';
import { openaiExtras } from './openai-extras';
import { type Publisher, SdkSchemas } from './sdk-schema';

const MODULES: Readonly<Record<Publisher, readonly string[]>> = {
  openai: ['chat/completions/completions', 'completions', 'embeddings', 'models', 'shared'],
  anthropic: ['messages/messages', 'shared'],
};

/** The type of an answer, or of a chunk or event of it, as the official client declares it. */
export interface WireType {
  readonly dialect: Dialect;
  readonly type: string;
  readonly publisher?: Publisher;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const schemas = new Map<Publisher, SdkSchemas>();
const made = new Map<string, ValidateFunction>();

/** What is wrong with a body, chunk or event, by the client's own type of it and the table of extras; empty when nothing is. */
export function wireFaults(
  body: unknown,
  { dialect, type, publisher = 'openai' }: WireType,
): string {
  const key = `${publisher} ${type} ${dialect}`;
  let validate = made.get(key);
  if (validate === undefined) {
    const known = schemas.get(publisher) ?? new SdkSchemas(publisher, MODULES[publisher]);
    schemas.set(publisher, known);
    const rules = publisher === 'openai' ? openaiExtras(dialect) : anthropicExtras(dialect);
    validate = ajv.compile(known.schema(type, rules));
    made.set(key, validate);
  }
  if (validate(body)) return '';
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${type} (${dialect}): ${faults.join('; ')} in ${JSON.stringify(body)}`;
}

/** The type of a whole answer or a chunk of the endpoints that generate text. */
export function answerType(endpoint: Endpoint, isStreamed: boolean): string {
  if (endpoint === 'completions') return 'Completion';
  return isStreamed ? 'ChatCompletionChunk' : 'ChatCompletion';
}
