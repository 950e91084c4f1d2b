import type { EndReason } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { eventsOf, parse } from '../test/test-response';
import { replayEvents } from './stored-response';
import { TranslatedResponse } from './translated-response';

const request = parse({ input: 'Hi' });
const head = { id: `resp_${'0'.repeat(48)}`, created: 1, model: 'ours' };

const call = (index: number, args: string, names: object = {}): object => ({
  tool_calls: [
    {
      index,
      function: { arguments: args, ...names },
      ...('name' in names ? { id: `c${index}` } : {}),
    },
  ],
});
const chunk = (delta: object): object => ({ model: 'theirs', choices: [{ index: 0, delta }] });
const USAGE = {
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
};

function translate(chunks: readonly object[], reason: EndReason = 'stop') {
  const response = new TranslatedResponse({ request, head }, () => 2);
  let stream = '';
  for (const one of chunks) {
    response.take(JSON.stringify(one));
    stream ||= response.open();
    stream += response.tokens();
  }
  stream += response.finishSequence(reason);
  stream += response.finishStream();
  return { response, object: response.endResponse({ reason }), stream, events: eventsOf(stream) };
}

const SPOKEN = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Hm' }),
  chunk({ reasoning: 'm.' }),
  chunk({ content: 'Pass' }),
  chunk({ content: ' "it" \u2028' }),
  chunk(call(0, '', { name: 'weather' })),
  chunk(call(0, '{"city"')),
  chunk(call(1, '{}', { name: 'time' })),
  chunk(call(0, ':1}')),
  USAGE,
];

describe('a response made of a chat of an upstream server', () => {
  it('has the items of the chat in order, its model and its usage', () => {
    const { object } = translate(SPOKEN);
    expect(object).toMatchObject({ id: head.id, status: 'completed', model: 'theirs' });
    expect(object.output).toMatchObject([
      { type: 'reasoning', status: 'completed', content: [{ text: 'Hmm.' }] },
      { type: 'message', status: 'completed', content: [{ text: 'Pass "it" \u2028' }] },
      { type: 'function_call', call_id: 'c0', name: 'weather', arguments: '{"city":1}' },
      { type: 'function_call', call_id: 'c1', name: 'time', arguments: '{}' },
    ]);
    expect(object['usage']).toMatchObject({
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 3,
      total_tokens: 10,
    });
  });

  it('ends its stream with the object, numbers its events, and can be replayed', () => {
    const { object, events, response } = translate(SPOKEN);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: object });
    const joined = (index: number): string =>
      events
        .filter((event) => event.type.endsWith('.delta') && event['output_index'] === index)
        .map((event) => event['delta'])
        .join('');
    expect([0, 1, 2, 3].map(joined)).toEqual(['Hmm.', 'Pass "it" \u2028', '{"city":1}', '{}']);
    // Calls end together, and are replayed one after the other.
    const spoken = translate(SPOKEN.slice(0, 7));
    const all = { after: -1, reasoning: 'openai' } as const;
    expect(replayEvents(spoken.object, spoken.response.deltas, all)).toBe(spoken.stream);
    expect(response.deltas).toEqual([[2, 2], [4, 7], [7, 3], [2]]);
  });

  it('is the same when the chat comes in one piece', () => {
    const message = {
      role: 'assistant',
      content: 'Pass',
      tool_calls: [{ id: 'c0', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    };
    const whole = new TranslatedResponse({ request, head }, () => 2);
    whole.take(JSON.stringify({ ...USAGE, model: 'theirs', choices: [{ message }] }));
    const { object } = translate([
      chunk({ content: 'Pass' }),
      chunk(call(0, '{}', { name: 'weather' })),
      USAGE,
    ]);
    expect(whole.endResponse({ reason: 'stop' })).toEqual(object);
  });

  it('keeps log-probabilities and refusals', () => {
    const score = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] };
    const said = { index: 0, delta: { content: 'a' }, logprobs: { content: [score] } };
    const { object, events } = translate([{ choices: [said] }, chunk({ refusal: 'No.' })]);
    expect(object.output).toMatchObject([
      { content: [{ text: 'a', logprobs: [score] }] },
      { content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
    const delta = events.find(({ type }) => type === 'response.output_text.delta');
    expect(delta).toMatchObject({ logprobs: [score] });
  });

  it.each([
    ['length', 'incomplete', 'incomplete'],
    ['abort', 'cancelled', 'incomplete'],
  ] as const)('that ends with %s is %s', (reason, status, ofItem) => {
    const { object } = translate([chunk({ reasoning: 'Hm' }), chunk({ content: 'Pa' })], reason);
    expect(object.status).toBe(status);
    expect(object.output.map((item) => item['status'])).toEqual(['completed', ofItem]);
  });

  it.each([
    {},
    { choices: 'x' },
    { choices: [null, 1] },
    { choices: [{ delta: { content: 1, reasoning: {}, tool_calls: [{}, 3] } }] },
    { choices: [{ delta: [] }], usage: { prompt_tokens: 'many' } },
  ])('takes an event of an unknown shape as far as it can: %j', (odd) => {
    const { object } = translate([odd, chunk({ content: 'ok' })]);
    expect(object.output.at(-1)).toMatchObject({ content: [{ text: 'ok' }] });
  });
});

describe('the chat of a response for an upstream server', () => {
  const chatOf = (body: object): Record<string, unknown> => {
    const { upstream } = parse(body, [], { upstream: 'answer' });
    return JSON.parse(upstream!) as Record<string, unknown>;
  };

  it('has the items as messages, with one message for each turn of the model', () => {
    const { messages } = chatOf({
      instructions: 'Be short.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Weather?' },
            { type: 'input_image', image_url: 'data:x', detail: 'low' },
          ],
        },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Ask.' }] },
        { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'time', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'rain' },
        { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: '9' }] },
      ],
    });
    const called = (id: string, name: string): object => ({
      id,
      type: 'function',
      function: { name, arguments: '{}' },
    });
    expect(messages).toEqual([
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Weather?' },
          { type: 'image_url', image_url: { url: 'data:x', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: '',
        reasoning: 'Ask.',
        tool_calls: [called('a', 'weather'), called('b', 'time')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'rain' },
      { role: 'tool', tool_call_id: 'b', content: '9' },
    ]);
  });

  it('has the fields of a chat, and none that the client has not sent', () => {
    expect(chatOf({ input: 'Hi' })).toEqual({ messages: [{ role: 'user', content: 'Hi' }] });
    const tool = { type: 'function', name: 'weather', parameters: { type: 'object' } };
    const schema = { type: 'object' };
    expect(
      chatOf({
        model: 'm',
        input: 'Hi',
        stream: true,
        tools: [tool],
        tool_choice: { type: 'function', name: 'weather' },
        max_output_tokens: 40,
        reasoning: { effort: 'low' },
        text: { format: { type: 'json_schema', name: 's', schema } },
        include: ['message.output_text.logprobs'],
        truncation: 'auto',
        temperature: 0.5,
        user: 'u',
      }),
    ).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      max_completion_tokens: 40,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
      logprobs: true,
      top_logprobs: 0,
      truncate_prompt_tokens: -1,
      temperature: 0.5,
      user: 'u',
    });
  });

  it('is longer than Baton’s own context, which the server has not', () => {
    const input = 'baton '.repeat(9_000);
    expect(() => parse({ input }, [])).toThrow(/context length/);
    expect(chatOf({ input })).toMatchObject({ messages: [{ content: input }] });
  });
});
