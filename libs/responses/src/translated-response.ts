import type { BatonError, EndReason } from '@baton/contract';
import { countIn, fieldsIn, isObject, type JsonFields, textIn } from '@baton/kernel';
import { asciiJson, escapeJson, type RawJson } from '@baton/text';
import { type OutputPart, outputItemId, PREFIXES } from './response-context';
import { errorEvent, responseFailure } from './response-error';
import { type OutputItem, type ReasoningEvents, ResponseEvents } from './response-events';
import {
  type ItemFacts,
  outputItem,
  type ResponseEnd,
  type ResponseObject,
  responseObject,
  type ResponseState,
  STARTED,
  statusAfter,
} from './response-object';
import { queuedResponse, type ResponseForms, type ResponseHead } from './response-outcome';
import type { ResponseStream } from './streamed-response';

/** An output item that grows. */
interface GrowingItem extends ItemFacts {
  text: string;
  status: string;
  readonly logprobs: unknown[];
  /** The server's number of a call. Undefined: the item is no call. */
  readonly call: number | undefined;
}

interface NewItem {
  readonly kind: OutputPart['kind'];
  readonly isRefusal?: boolean;
  readonly call?: number;
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
}

export interface TranslatedParts extends ResponseHead {
  /** Default: `openai`. */
  readonly reasoningEvents?: ReasoningEvents | undefined;
}

/**
 * The response that an upstream server's chat completion becomes: its object and its events. The
 * chat comes in events or as a whole; fields of a wrong type count as absent.
 */
export class TranslatedResponse implements ResponseForms, ResponseStream {
  readonly sequences: readonly [this] = [this];
  readonly deltas: number[][] = [];
  private readonly events: ResponseEvents;
  private readonly items: GrowingItem[] = [];
  /** Events of the server that are not translated yet. */
  private chunks: JsonFields[] = [];
  /** The server's own name of its model. */
  private model: string | undefined;
  private usage: object | null = null;
  private reason: EndReason = 'stop';
  private result: ResponseObject | undefined;

  constructor(
    private readonly parts: TranslatedParts,
    private readonly nowSeconds: () => number,
  ) {
    this.events = new ResponseEvents(parts.reasoningEvents);
  }

  /** @param payload an event of the server or its whole answer: a JSON object */
  take(payload: string): void {
    const chunk = JSON.parse(payload) as JsonFields;
    this.model ??= textIn(chunk['model']);
    this.chunks.push(chunk);
  }

  started(): ResponseObject {
    return this.object(STARTED);
  }

  endResponse({ reason }: Pick<ResponseEnd, 'reason'>): ResponseObject {
    this.finishSequence(reason);
    const status = statusAfter(reason);
    const completedAt = status === 'completed' ? this.nowSeconds() : null;
    const { usage } = this;
    this.result ??= this.object({ status, output: this.output(), completedAt, usage, error: null });
    return this.result;
  }

  failed(error: BatonError): ResponseObject {
    const state = { ...STARTED, status: 'failed', error: responseFailure(error) } as const;
    this.result ??= this.object({ ...state, output: this.output() });
    return this.result;
  }

  written(response: ResponseObject): RawJson {
    return asciiJson(response);
  }

  queued(): string {
    return this.events.queued(queuedResponse(this.parts));
  }

  open(): string {
    return this.events.begin(this.started());
  }

  /** The events of everything that was taken. */
  tokens(): string {
    const { chunks } = this;
    this.chunks = [];
    return chunks.map((chunk) => this.translated(chunk)).join('');
  }

  finishSequence(reason: EndReason): string {
    this.reason = reason;
    return this.tokens() + this.closed(reason === 'stop' ? 'completed' : 'incomplete');
  }

  finishStream(): string {
    const response = this.endResponse({ reason: this.reason });
    return this.events.endResponse(response.status, asciiJson(response));
  }

  fail(error: BatonError): string {
    const begun = this.events.hasBegun ? '' : this.open();
    const failed = errorEvent(responseFailure(error), this.events.take());
    return begun + failed + this.events.endResponse('failed', asciiJson(this.failed(error)));
  }

  private translated({ usage, choices }: JsonFields): string {
    if (isObject(usage)) this.usage = usageOf(usage);
    const [choice] = listIn(choices);
    const said = fieldsIn(choice?.['delta'] ?? choice?.['message']);
    const scores = listIn(fieldsIn(choice?.['logprobs'])['content']);
    const events = [
      this.say({ kind: 'reasoning' }, textIn(said['reasoning'] ?? said['reasoning_content'])),
      this.say({ kind: 'message' }, textIn(said['content']), scores),
      this.say({ kind: 'message', isRefusal: true }, textIn(said['refusal'])),
      ...listIn(said['tool_calls']).map((call, i) => this.call(call, i)),
    ];
    return events.join('');
  }

  /** Text of the last item, or of a new one. */
  private say(item: NewItem, text: string | undefined, logprobs: readonly unknown[] = []): string {
    if (text === undefined) return '';
    const { kind, isRefusal = false } = item;
    const last = this.items.at(-1);
    const goesOn = last?.status === 'in_progress' && last.kind === kind;
    if (goesOn && last.isRefusal === isRefusal) return this.grown(last, text, logprobs);
    return this.added(item) + this.grown(this.items.at(-1)!, text, logprobs);
  }

  /** A call, or more of its arguments. Calls stay open together: servers may interleave them. */
  private call(call: JsonFields, place: number): string {
    const index = countIn(call['index']) ?? place;
    const isCustom = isObject(call['custom']);
    const { name, arguments: args, input } = fieldsIn(call['custom'] ?? call['function']);
    const text = textIn(isCustom ? input : args) ?? '';
    const open = this.items.find((item) => item.call === index && item.status === 'in_progress');
    if (open !== undefined) return this.grown(open, text);
    const opening = this.added({
      kind: isCustom ? 'custom_tool_call' : 'function_call',
      call: index,
      callId: textIn(call['id']),
      name: textIn(name),
    });
    return opening + this.grown(this.items.at(-1)!, text);
  }

  /** Opens an item, and closes those before it, except calls before a call. */
  private added({ call, ...given }: NewItem): string {
    const isNextCall = call !== undefined && this.items.at(-1)?.call !== undefined;
    const closed = isNextCall ? '' : this.closed('completed');
    const at = this.items.length;
    const id = outputItemId(PREFIXES[given.kind], this.parts.head.id, at);
    const { callId = `call_${id}`, name = '', isRefusal = false } = given;
    const own = { kind: given.kind, id, callId, name, isRefusal, call };
    const item: GrowingItem = { ...own, text: '', status: 'in_progress', logprobs: [] };
    this.items.push(item);
    this.deltas.push([]);
    return closed + this.events.added(this.shown(item), at);
  }

  private grown(item: GrowingItem, text: string, logprobs: readonly unknown[] = []): string {
    if (text === '') return '';
    const at = this.items.indexOf(item);
    item.text += text;
    for (const one of logprobs) item.logprobs.push(one);
    this.deltas[at]!.push(text.length);
    const delta = { text: escapeJson(text), logprobs: asciiJson(logprobs) };
    return this.events.delta(this.shown({ ...item, text: '' }), at, delta);
  }

  /** Closes the open items. Only the last one can be incomplete. */
  private closed(status: 'completed' | 'incomplete'): string {
    let events = '';
    for (const [at, item] of this.items.entries()) {
      if (item.status !== 'in_progress') continue;
      item.status = at + 1 === this.items.length ? status : 'completed';
      events += this.events.done(this.shown(item), at).join('');
    }
    return events;
  }

  private output(): OutputItem[] {
    return this.items.map((item) => this.shown(item));
  }

  private shown(item: ItemFacts): OutputItem {
    return outputItem(this.parts.request, item);
  }

  private object(state: ResponseState): ResponseObject {
    const { request, head } = this.parts;
    return responseObject(request, { ...head, model: this.model ?? head.model }, state);
  }
}

/** The usage of a chat in the names of a response. */
function usageOf(usage: JsonFields): object {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage;
  const input = countIn(prompt) ?? 0;
  const output = countIn(completion) ?? 0;
  const cached = countIn(fieldsIn(read)['cached_tokens']) ?? 0;
  const reasoning = countIn(fieldsIn(written)['reasoning_tokens']) ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function listIn(value: unknown): JsonFields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
