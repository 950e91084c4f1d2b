import { asciiJson, escapeJson, type RawJson } from '@baton/text';
import { itemJson, jsonWith } from './item-json';

/** An output item as part of a response. */
export type OutputItem = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly type: string;
};

/**
 * Names of the events of reasoning: `reasoning_text` in OpenAI, `reasoning` in Open Responses.
 * vLLM's additional names break OpenAI's client, so they are not sent.
 */
export type ReasoningEvents = 'openai' | 'open_responses';

interface TextEvents {
  readonly delta: string;
  readonly done: string;
  /** The key of the whole text in the last event and in a call. */
  readonly key: 'text' | 'refusal' | 'arguments' | 'input';
}

const NAMES: Readonly<Record<string, TextEvents>> = {
  message: { delta: 'output_text.delta', done: 'output_text.done', key: 'text' },
  refusal: { delta: 'refusal.delta', done: 'refusal.done', key: 'refusal' },
  reasoning: { delta: 'reasoning_text.delta', done: 'reasoning_text.done', key: 'text' },
  open_responses: { delta: 'reasoning.delta', done: 'reasoning.done', key: 'text' },
  function_call: {
    delta: 'function_call_arguments.delta',
    done: 'function_call_arguments.done',
    key: 'arguments',
  },
  custom_tool_call: {
    delta: 'custom_tool_call_input.delta',
    done: 'custom_tool_call_input.done',
    key: 'input',
  },
};

/**
 * The last event of a stream, by the status of the response. A cancelled one has no event of its
 * own.
 */
const LAST: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  cancelled: 'response.incomplete',
};

export const DONE_EVENT = 'data: [DONE]\n\n';

/**
 * Writes the events of one response, numbered from 0 without gaps. Every returned string consists
 * of whole events, in ASCII.
 */
export class ResponseEvents {
  private next = 0;

  constructor(private readonly reasoning: ReasoningEvents = 'openai') {}

  get hasBegun(): boolean {
    return this.next > 0;
  }

  /** Takes the number of an event that another class writes. */
  take(): number {
    return this.next++;
  }

  /** The first event of a background response, before `begin`. */
  queued(response: object): string {
    const fields = writtenFields({ response });
    return this.raw('response.created', fields) + this.raw('response.queued', fields);
  }

  begin(response: object): string {
    const fields = writtenFields({ response });
    const created = this.hasBegun ? '' : this.raw('response.created', fields);
    return created + this.raw('response.in_progress', fields);
  }

  /** Opens an item and the part of its text. `item` is empty. */
  added(item: OutputItem, index: number): string {
    const isCall = isCallItem(item);
    const bare = isCall ? item : { ...item, content: [] };
    const fields = writtenFields({ output_index: index, item: bare });
    const opened = this.raw('response.output_item.added', fields);
    return isCall ? opened : opened + this.part('added', { item, index, text: '' });
  }

  /**
   * @param text JSON-escaped
   * @param logprobs a list
   */
  delta(
    item: OutputItem,
    index: number,
    { text, logprobs }: { text: string; logprobs: RawJson },
  ): string {
    const { delta, key } = this.namesOf(item);
    const scores = isSpoken(item, key) ? `,"logprobs":${logprobs}` : '';
    return this.raw(`response.${delta}`, `${placeOf(item, index)},"delta":"${text}"${scores}`);
  }

  /**
   * The events that close a finished item, each with at most one text.
   *
   * @param logprobs the log-probabilities of its text; default: those in the item
   */
  done(item: OutputItem, index: number, logprobs: RawJson = logprobsOf(item)): string[] {
    const { done, key } = this.namesOf(item);
    const text = itemText(item);
    const named = item.type === 'function_call' ? `,"name":${asciiJson(item['name'])}` : '';
    const scores = isSpoken(item, key) ? `,"logprobs":${logprobs}` : '';
    const fields = `${placeOf(item, index)}${named},"${key}":"${escapeJson(text)}"${scores}`;
    const written = `"output_index":${index},"item":${itemJson(item, logprobs)}`;
    return [
      this.raw(`response.${done}`, fields),
      ...(isCallItem(item) ? [] : [this.part('done', { item, index, text, logprobs })]),
      this.raw('response.output_item.done', written),
    ];
  }

  /** @param response as JSON */
  endResponse(status: unknown, response: RawJson): string {
    const type = LAST[String(status)] ?? 'response.failed';
    return this.raw(type, `"response":${response}`) + DONE_EVENT;
  }

  private part(what: 'added' | 'done', { item, index, text, logprobs = '[]' }: PartParts): string {
    const part = partOf(item, text);
    const written = 'logprobs' in part ? jsonWith(part, { logprobs }) : asciiJson(part);
    const fields = `${placeOf(item, index)},"part":${written}`;
    return this.raw(`response.content_part.${what}`, fields);
  }

  private namesOf(item: OutputItem): TextEvents {
    if (item.type === 'reasoning' && this.reasoning === 'open_responses') {
      return NAMES['open_responses']!;
    }
    return namesOf(item);
  }

  private raw(type: string, fields: RawJson): string {
    return (
      `event: ${type}\ndata: ` + `{"type":"${type}","sequence_number":${this.next++},${fields}}\n\n`
    );
  }
}

function writtenFields(fields: object): RawJson {
  return asciiJson(fields).slice(1, -1);
}

interface PartParts {
  readonly item: OutputItem;
  readonly index: number;
  readonly text: string;
  readonly logprobs?: RawJson;
}

function partOf(item: OutputItem, text: string): object {
  if (item.type === 'reasoning') return { type: 'reasoning_text', text };
  if (isRefusal(item)) return { type: 'refusal', refusal: text };
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

export function isCallItem({ type }: { readonly type: string }): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function isRefusal(item: OutputItem): boolean {
  return item.type === 'message' && firstPart(item)['type'] === 'refusal';
}

/** Whether a text has log-probabilities. The text of a message has them; a refusal does not. */
function isSpoken({ type }: OutputItem, key: string): boolean {
  return type === 'message' && key === 'text';
}

/** The text of an item, from any of its fields. */
export function itemText(item: OutputItem): string {
  const { key } = namesOf(item);
  const text = isCallItem(item) ? item[key] : firstPart(item)[key];
  return typeof text === 'string' ? text : '';
}

function logprobsOf(item: OutputItem): RawJson {
  return asciiJson(firstPart(item)['logprobs'] ?? []);
}

function firstPart({ content }: OutputItem): Readonly<Record<string, unknown>> {
  return Array.isArray(content) ? ((content[0] ?? {}) as Record<string, unknown>) : {};
}

/** The item of an event, and the part within it. */
function placeOf(item: OutputItem, index: number): RawJson {
  const place = `"item_id":${asciiJson(item.id)},"output_index":${index}`;
  return isCallItem(item) ? place : `${place},"content_index":0`;
}

function namesOf(item: OutputItem): TextEvents {
  return NAMES[isRefusal(item) ? 'refusal' : item.type] ?? NAMES['message']!;
}
