import type { Dialect, Endpoint } from '@baton/openai';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { anthropicExtras } from './anthropic-extras';
import { openaiExtras } from './openai-extras';
import { type Publisher, type SchemaWriter, SdkSchemas } from './sdk-schema';

const MODULES: Readonly<Record<Publisher, readonly string[]>> = {
  openai: [
    ...[
      'chat/completions/completions',
      'completions',
      'embeddings',
      'models',
      'responses/responses',
      'shared',
    ],
    ...['responses/responses', 'conversations/conversations'],
  ],
  anthropic: ['messages/messages', 'shared'],
};

/** The type of an answer, or of a chunk or event of it, as the official client declares it. */
export interface WireType {
  readonly dialect: Dialect;
  readonly type: string;
  readonly publisher?: Publisher;
}

// To optimise the code of a schema takes longer than its few runs.
const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
const schemas = new Map<Publisher, SdkSchemas>();
const writers = new Map<string, SchemaWriter>();
const made = new Map<string, ValidateFunction>();

/**
 * The faults of a body, chunk or event, by the client's own type of it and the table of extras;
 * empty for none.
 */
export function wireFaults(
  body: unknown,
  { dialect, type, publisher = 'openai' }: WireType,
): string {
  const key = `${publisher} ${type} ${dialect}`;
  let validate = made.get(key);
  if (validate === undefined) {
    const { schema, definitions } = writerOf(publisher, dialect).write(type);
    ajv.addSchema([...definitions]);
    validate = ajv.compile(schema);
    made.set(key, validate);
  }
  if (validate(body)) return '';
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${type} (${dialect}): ${faults.join('; ')} in ${JSON.stringify(body)}`;
}

function writerOf(publisher: Publisher, dialect: Dialect): SchemaWriter {
  const id = `https://${publisher}.${dialect}`;
  let writer = writers.get(id);
  if (writer === undefined) {
    const known = schemas.get(publisher) ?? new SdkSchemas(publisher, MODULES[publisher]);
    schemas.set(publisher, known);
    const rules = publisher === 'openai' ? openaiExtras(dialect) : anthropicExtras(dialect);
    writer = known.writer(id, rules);
    writers.set(id, writer);
  }
  return writer;
}

/** The type of a whole answer or a chunk of the endpoints that generate text. */
export function answerType(endpoint: Endpoint, isStreamed: boolean): string {
  if (endpoint === 'completions') return 'Completion';
  return isStreamed ? 'ChatCompletionChunk' : 'ChatCompletion';
}

const EVENTS: Readonly<Record<string, string>> = {
  'content_part.added': 'ContentPartAdded',
  'content_part.done': 'ContentPartDone',
  'output_item.added': 'OutputItemAdded',
  'output_item.done': 'OutputItemDone',
  'output_text.delta': 'TextDelta',
  'output_text.done': 'TextDone',
  'reasoning_text.delta': 'ReasoningTextDelta',
  'reasoning_text.done': 'ReasoningTextDone',
  'refusal.delta': 'RefusalDelta',
  'refusal.done': 'RefusalDone',
  'function_call_arguments.delta': 'FunctionCallArgumentsDelta',
  'function_call_arguments.done': 'FunctionCallArgumentsDone',
  'custom_tool_call_input.delta': 'CustomToolCallInputDelta',
  'custom_tool_call_input.done': 'CustomToolCallInputDone',
  created: 'Created',
  queued: 'Queued',
  in_progress: 'InProgress',
  completed: 'Completed',
  incomplete: 'Incomplete',
  failed: 'Failed',
};

/** The faults of a response's event, by the type of its name. */
export function eventFaults(event: { readonly type: string }, dialect: Dialect): string {
  const name = event.type.replace(/^response\./, '');
  const type = name === 'error' ? 'ResponseErrorEvent' : `Response${EVENTS[name] ?? '?'}Event`;
  return wireFaults(event, { dialect, type });
}
