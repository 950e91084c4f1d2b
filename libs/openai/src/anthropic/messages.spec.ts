import { BatonError } from '@baton/contract';
import { defaultTokenizer, type OutputPlan } from '@baton/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../refusal/dialect';
import type { GenerationRequest } from '../generation-request';
import type { RequestLimits } from '../limits';
import { planSequence } from '../plan-sequence';
import { messageId } from './message-facts';
import { parseMessages } from './parse-messages';
import { renderMessage } from './render-message';
import { StreamedMessage } from './streamed-message';

const tokenizer = defaultTokenizer();
const HI = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 6 };
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { enum: ['Oslo'] } }, required: ['city'] },
};

function limitsOf(dialect: Dialect, more: Partial<RequestLimits> = {}): RequestLimits {
  return { dialect, tokenizer, models: ['m'], maxModelLen: 4096, ...more };
}

interface Setting {
  readonly request: GenerationRequest;
  readonly plan: OutputPlan;
  readonly head: { id: string; created: number; model: string; systemFingerprint: string };
  readonly options: { dialect: Dialect; tokenizer: typeof tokenizer };
}

function settingOf(dialect: Dialect, body: object, more?: Partial<RequestLimits>): Setting {
  const request = parseMessages(body, limitsOf(dialect, more));
  const plan = planSequence(
    request,
    { index: 0 },
    { tokenizer, seed: 1, lengthModel: () => 40, reasoningLengthModel: () => 12 },
  );
  const head = { id: messageId(dialect, 'X'), created: 0, model: 'm', systemFingerprint: 'f' };
  return { request, plan, head, options: { dialect, tokenizer } };
}

interface Message {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly stop_reason: string;
  readonly stop_sequence?: string | null;
  readonly usage: Readonly<Record<string, number>>;
}

function whole(setting: Setting, cachedTokens = 0): Message {
  const { plan } = setting;
  const result = { plan, reason: plan.endReason, count: plan.count };
  return JSON.parse(renderMessage(setting, result, { cachedTokens })) as Message;
}

/** The whole stream, with tokens in steps of these sizes. */
function streamed(setting: Setting, step: () => number = () => 1): string {
  const message = new StreamedMessage(setting);
  const { plan } = setting;
  let events = message.open();
  let at = 0;
  for (; at + 1 < plan.count;) {
    const count = Math.min(step(), plan.count - 1 - at);
    events += message.tokens(at, count);
    at += count;
  }
  return (
    events + message.finishSequence(plan.endReason, at, plan.count - at) + message.finishStream()
  );
}

interface Event {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: Readonly<Record<string, unknown>>;
  readonly delta?: Readonly<Record<string, string | null>>;
}

function eventsOf(stream: string): Event[] {
  return stream
    .split('\n\n')
    .slice(0, -1)
    .map((event) => {
      const [name, data] = event.split('\n');
      const parsed = JSON.parse((data ?? '').replace(/^data: /, '')) as Event;
      expect(name).toBe(`event: ${parsed.type}`);
      return parsed;
    });
}

/** The blocks as a client assembles them. Also checks the order of the events. */
function blocksOf(events: readonly Event[]): Record<string, unknown>[] {
  const blocks: Record<string, unknown>[] = [];
  let open = -1;
  for (const { type, index, content_block, delta } of events) {
    if (type === 'content_block_start') {
      expect([open, index]).toEqual([-1, blocks.length]);
      blocks.push({ ...content_block });
      open = index ?? -1;
    } else if (type === 'content_block_delta') {
      expect(index).toBe(open);
      const { type: kind, ...fields } = delta ?? {};
      const block = blocks[open]!;
      for (const [key, value] of Object.entries(fields)) {
        block[key] = `${(block[key] as string | undefined) ?? ''}${value}`;
      }
      expect(kind).toMatch(/^(text|thinking|signature|input_json)_delta$/);
    } else if (type === 'content_block_stop') {
      expect(index).toBe(open);
      open = -1;
    }
  }
  expect(open).toBe(-1);
  return blocks.map(({ partial_json, ...block }) =>
    partial_json === undefined ? block : { ...block, input: JSON.parse(partial_json as string) },
  );
}

describe('a message', () => {
  it('has the keys of vLLM', () => {
    const setting = settingOf('vllm', HI);
    const text = tokenizer.decode(setting.plan.tokenIds);
    const result = { plan: setting.plan, reason: setting.plan.endReason, count: 6 };
    expect(renderMessage(setting, result, { cachedTokens: 4 })).toBe(
      '{"id":"chatcmpl-X","type":"message","role":"assistant","content":[{"type":"text",' +
        `"text":"${text}"}],"model":"m","stop_reason":"max_tokens",` +
        `"usage":{"input_tokens":${setting.request.prompts[0]!.ids.length},"output_tokens":6}}`,
    );
  });

  it('has the keys of Anthropic, with cached tokens counted separately', () => {
    const setting = settingOf('openai', HI);
    const tokens = setting.request.prompts[0]!.ids.length;
    expect(whole(setting, 4)).toMatchObject({
      id: 'msg_X',
      stop_reason: 'max_tokens',
      stop_sequence: null,
      usage: {
        input_tokens: tokens - 4,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 6,
      },
    });
  });

  it.each(['openai', 'vllm'] as const)('streams its events in order (%s)', (dialect) => {
    const types = eventsOf(streamed(settingOf(dialect, HI))).map(({ type }) => type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      ...Array.from({ length: 6 }, () => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('equals the bytes of vLLM', () => {
    const setting = settingOf('vllm', { ...HI, max_tokens: 1 });
    const tokens = setting.request.prompts[0]!.ids.length;
    const text = tokenizer.decode(setting.plan.tokenIds);
    expect(streamed(setting)).toBe(
      'event: message_start\ndata: ' +
        '{"type":"message_start","message":{"id":"chatcmpl-X","type":"message",' +
        '"role":"assistant","content":[],"model":"m","stop_reason":null,' +
        `"stop_sequence":null,"usage":{"input_tokens":${tokens},"output_tokens":0}}}\n\n` +
        'event: content_block_start\ndata: ' +
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
        'event: content_block_delta\ndata: ' +
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",' +
        `"text":"${text}"}}\n\n` +
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n' +
        'event: message_delta\ndata: ' +
        '{"type":"message_delta","delta":{"stop_reason":"max_tokens"},' +
        `"usage":{"input_tokens":${tokens},"output_tokens":1}}\n\n` +
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    );
  });

  it('ends with end_turn at its natural length', () => {
    expect(whole(settingOf('openai', { ...HI, max_tokens: 500 })).stop_reason).toBe('end_turn');
  });

  it('gives the stop sequence that ended it, and does not show it in the text', () => {
    const text = tokenizer.decode(settingOf('openai', { ...HI, max_tokens: 500 }).plan.tokenIds);
    const stop = text.slice(20, 26);
    for (const dialect of ['openai', 'vllm'] as const) {
      const setting = settingOf(dialect, { ...HI, max_tokens: 500, stop_sequences: [stop] });
      const message = whole(setting);
      expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: stop });
      expect(message.content[0]?.['text']).not.toContain(stop);
      const events = eventsOf(streamed(setting));
      expect(blocksOf(events)).toEqual(message.content);
      expect(events.at(-2)?.delta).toMatchObject({
        stop_reason: 'stop_sequence',
        stop_sequence: stop,
      });
    }
  });

  it('calls a tool with arguments that fit its schema', () => {
    const body = { ...HI, max_tokens: 200, tools: [WEATHER], tool_choice: { type: 'any' } };
    for (const dialect of ['openai', 'vllm'] as const) {
      const { content, stop_reason } = whole(settingOf(dialect, body));
      expect(stop_reason).toBe('tool_use');
      expect(content[0]).toMatchObject({ name: 'get_weather', input: { city: 'Oslo' } });
      expect(content[0]?.['id']).toMatch(dialect === 'vllm' ? /^chatcmpl-tool-/ : /^toolu_/);
    }
  });

  it('has reasoning before the answer on request', () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const body = { ...HI, max_tokens: 2000, thinking };
    const kinds = (setting: Setting): unknown[] => whole(setting).content.map(({ type }) => type);
    const reasoning = { isReasoning: true };
    expect(kinds(settingOf('openai', body, reasoning))).toEqual(['thinking', 'text']);
    expect(kinds(settingOf('openai', HI, reasoning))).toEqual(['text']);
    expect(kinds(settingOf('vllm', { ...HI, max_tokens: 2000 }, reasoning))).toEqual([
      'thinking',
      'text',
    ]);
    const off = { ...HI, thinking: { type: 'disabled' } };
    expect(kinds(settingOf('vllm', off, reasoning))).toEqual(['text']);
  });

  it('meets the schema of output_config', () => {
    const schema = { type: 'object', properties: { n: { const: 7 } }, required: ['n'] };
    const output_config = { format: { type: 'json_schema', schema } };
    const { content } = whole(settingOf('openai', { ...HI, max_tokens: 200, output_config }));
    expect(JSON.parse(content[0]?.['text'] as string)).toMatchObject({ n: 7 });
  });

  it('has the same content streamed in any steps and in one piece', () => {
    const bodies = [
      HI,
      { ...HI, max_tokens: 500 },
      { ...HI, max_tokens: 300, tools: [WEATHER, { ...WEATHER, name: 'other' }] },
      {
        ...HI,
        max_tokens: 300,
        tools: [WEATHER],
        tool_choice: { type: 'tool', name: 'get_weather' },
      },
      { ...HI, max_tokens: 8, tools: [WEATHER], tool_choice: { type: 'any' } },
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies),
        fc.constantFrom('openai' as const, 'vllm' as const),
        fc.boolean(),
        fc.integer({ min: 0, max: 40 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (body, dialect, isReasoning, seed, steps) => {
          const setting = settingOf(dialect, { ...body, seed }, { isReasoning });
          const step = (): number => steps.next().value as number;
          const { content, stop_reason } = whole(setting);
          const events = eventsOf(streamed(setting, step));
          const isCut = stop_reason === 'max_tokens' && 'tools' in body;
          if (!isCut) expect(blocksOf(events)).toEqual(content);
          expect(events.at(-2)?.delta?.['stop_reason']).toBe(stop_reason);
        },
      ),
      { seed: 5, numRuns: 200 },
    );
  });

  it('ends its stream with an error', () => {
    const stream = new StreamedMessage(settingOf('openai', HI));
    expect(stream.fail(new BatonError('engine_error'))).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Internal ' +
        'server error"},"request_id":null}\n\n',
    );
  });
});
