import { asciiJson, escapeJson } from '@baton/text';
import type { RawJson } from '../answer/raw-json';

/** An item of the output as it stands in a response. */
export type OutputItem = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly type: string;
};

interface TextEvents {
  readonly delta: string;
  readonly done: string;
  /** Under which key the whole text is told in the end, and where a call keeps it. */
  readonly key: 'text' | 'arguments' | 'input';
}

const NAMES: Readonly<Record<string, TextEvents>> = {
  message: { delta: 'output_text.delta', done: 'output_text.done', key: 'text' },
  reasoning: { delta: 'reasoning_text.delta', done: 'reasoning_text.done', key: 'text' },
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

/** The last event of a stream, by how the response ended. */
const LAST: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

export const DONE = 'data: [DONE]\n\n';

/** Writes the events of one response, numbered from 0 without gaps. Every string that it returns is whole events, in ASCII. */
export class ResponseEvents {
  private next = 0;

  get hasBegun(): boolean {
    return this.next > 0;
  }

  /** The number of an event that is written elsewhere. */
  take(): number {
    return this.next++;
  }

  begin(response: object): string {
    return (
      this.event('response.created', { response }) +
      this.event('response.in_progress', { response })
    );
  }

  /** Opens an item, and the part that its text goes into. `item` is empty. */
  added(item: OutputItem, index: number): string {
    const isCall = isCallItem(item);
    const bare = isCall ? item : { ...item, content: [] };
    const opened = this.event('response.output_item.added', { output_index: index, item: bare });
    return isCall ? opened : opened + this.part('added', { item, index, text: '' });
  }

  /** @param text JSON-escaped */
  delta(
    item: OutputItem,
    index: number,
    { text, logprobs }: { text: string; logprobs: unknown[] },
  ): string {
    const { delta } = namesOf(item);
    const scores = item.type === 'message' ? `,"logprobs":${asciiJson(logprobs)}` : '';
    return this.raw(`response.${delta}`, `${placeOf(item, index)},"delta":"${text}"${scores}`);
  }

  /** Closes an item that is as it will stay. */
  done(item: OutputItem, index: number): string {
    const { done, key } = namesOf(item);
    const text = textOf(item);
    const named = item.type === 'function_call' ? `,"name":${asciiJson(item['name'])}` : '';
    const scores = item.type === 'message' ? `,"logprobs":${asciiJson(logprobsOf(item))}` : '';
    const fields = `${placeOf(item, index)}${named},"${key}":"${escapeJson(text)}"${scores}`;
    return (
      this.raw(`response.${done}`, fields) +
      (isCallItem(item) ? '' : this.part('done', { item, index, text })) +
      this.event('response.output_item.done', { output_index: index, item })
    );
  }

  end(response: { readonly status?: unknown }): string {
    const type = LAST[String(response.status)] ?? 'response.failed';
    return this.event(type, { response }) + DONE;
  }

  private part(
    what: 'added' | 'done',
    { item, index, text }: { item: OutputItem; index: number; text: string },
  ): string {
    const logprobs = what === 'done' ? logprobsOf(item) : [];
    const output = { type: 'output_text', annotations: [], logprobs, text };
    const part = item.type === 'message' ? output : { type: 'reasoning_text', text };
    const fields = `${placeOf(item, index)},"part":${asciiJson(part)}`;
    return this.raw(`response.content_part.${what}`, fields);
  }

  private event(type: string, fields: object): string {
    return this.raw(type, asciiJson(fields).slice(1, -1));
  }

  private raw(type: string, fields: RawJson): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.next++},${fields}}\n\n`;
  }
}

export function isCallItem({ type }: { readonly type: string }): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

/** The text of an item, wherever it keeps it. */
export function textOf(item: OutputItem): string {
  const { key } = namesOf(item);
  const text = key === 'text' ? firstPart(item)['text'] : item[key];
  return typeof text === 'string' ? text : '';
}

function logprobsOf(item: OutputItem): unknown {
  return firstPart(item)['logprobs'] ?? [];
}

function firstPart({ content }: OutputItem): Readonly<Record<string, unknown>> {
  return Array.isArray(content) ? ((content[0] ?? {}) as Record<string, unknown>) : {};
}

/** Which item, and which part of it, an event speaks of. */
function placeOf(item: OutputItem, index: number): RawJson {
  const place = `"item_id":${asciiJson(item.id)},"output_index":${index}`;
  return isCallItem(item) ? place : `${place},"content_index":0`;
}

function namesOf({ type }: OutputItem): TextEvents {
  return NAMES[type] ?? NAMES['message']!;
}
