import { BatonError } from '@baton/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSequence } from '@baton/openai';
import { runsOf } from '../../../test/support/runs';
import { eventsOf, newId, parse, run, tokenizer } from '../test/test-response';
import type { Item } from './items';
import { readResponse, type ResponseLimits } from './parse-response';
import { renderResponseError } from './response-error';
import { ResponseOutcome } from './response-outcome';
import { replayEvents } from './stored-response';
import { StreamedResponse } from './streamed-response';

const FROM_START = { after: -1, reasoning: 'openai' } as const;
const promptOf = (body: object, context: readonly Item[] = []): string =>
  tokenizer.decode(parse(body, context).generation.prompts[0]!.ids);

function refusal(body: object, context: readonly Item[] = [], more: Partial<ResponseLimits> = {}) {
  try {
    parse(body, context, more);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  return expect.fail(`accepted: ${JSON.stringify(body)}`);
}

const parameters = {
  type: 'object',
  properties: { city: { enum: ['Oslo', 'Å'] } },
  required: ['city'],
};
const tools = [
  { type: 'function', name: 'weather', parameters },
  { type: 'custom', name: 'shell' },
];

const scenario = fc.record({
  seed: fc.nat(),
  form: fc.constantFrom<object>(
    {},
    { tools, tool_choice: 'required' },
    { text: { format: { type: 'json_schema', name: 's', schema: parameters } } },
    { include: ['message.output_text.logprobs'], top_logprobs: 2 },
    { reasoning: { effort: 'low' } },
    { reasoning: { effort: 'low' }, tools, tool_choice: { type: 'function', name: 'weather' } },
  ),
  max: fc.constantFrom(16, 20, 30, 300),
  cuts: fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
});

describe('a streamed response', () => {
  it('ends with the sum of its events, which are in order and numbered without gaps', () => {
    fc.assert(
      fc.property(scenario, ({ seed, form, max, cuts }) => {
        const body = { input: 'Hi', seed, max_output_tokens: max, ...form };
        const { response, events, stream, outcome } = run(body, () => cuts.next().value as number);
        expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
        expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
          'response.created',
          'response.in_progress',
        ]);
        expect(events.at(-1)?.['response']).toEqual(JSON.parse(JSON.stringify(response)));
        const done = events.filter(({ type }) => type === 'response.output_item.done');
        expect(done.map((event) => event['item'])).toEqual(
          JSON.parse(JSON.stringify(response.output)),
        );
        for (const [index, item] of response.output.entries()) {
          const own = events.filter((event) => event['output_index'] === index);
          const deltas = own.filter(({ type }) => type.endsWith('.delta'));
          const text = deltas.map((event) => event['delta']).join('');
          expect(text).toBe(textIn(item));
          expect(own[0]?.type).toBe('response.output_item.added');
        }
        expect(replayEvents(response, outcome.deltas, FROM_START).length).toBeGreaterThan(0);
        if (!JSON.stringify(form).includes('logprobs')) {
          expect(replayEvents(response, outcome.deltas, FROM_START)).toBe(stream);
        }
      }),
      { numRuns: runsOf(600) },
    );
  });

  it('can be replayed from any event', () => {
    const { response, outcome, events, stream } = run({ input: 'Hi', max_output_tokens: 40 });
    for (const after of [0, 1, 5, events.length - 1]) {
      const rest = replayEvents(response, outcome.deltas, { ...FROM_START, after });
      expect(stream.endsWith(rest)).toBe(true);
      if (after < events.length - 1) expect(eventsOf(rest)[0]?.sequence_number).toBe(after + 1);
    }
  });

  it('ends with an error event and response.failed when the engines fail', () => {
    const request = parse({ input: 'Hi' });
    const plan = planSequence(
      request.generation,
      { index: 0 },
      { tokenizer, seed: 0, lengthModel: () => 9 },
    );
    const head = { id: 'resp_1', created: 1, model: 'm', systemFingerprint: 'fp' };
    const options = { dialect: 'openai', tokenizer } as const;
    const streamed = new StreamedResponse(
      new ResponseOutcome({ request, head, plan, options }, () => 2),
    );
    const events = eventsOf(
      streamed.open() + streamed.tokens(0, 3) + streamed.fail(new BatonError('engine_error')),
    );
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
    expect(events.at(-2)).toMatchObject({ code: 'server_error', error: { type: 'server_error' } });
  });
});

describe('a response', () => {
  it('is incomplete when the limit cuts it, with its last item', () => {
    const { response, events } = run({ input: 'Hi', max_output_tokens: 16, ignore_eos: true });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
      usage: { output_tokens: 16, input_tokens_details: { cached_tokens: 3 } },
    });
    expect(events.at(-1)?.type).toBe('response.incomplete');
  });

  it('repeats the request’s fields, with every key that clients require', () => {
    const { response } = run({
      input: 'Hi',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      tools,
      tool_choice: 'none',
      reasoning: { effort: 'low' },
    });
    expect(response).toMatchObject({
      object: 'response',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      top_p: 1,
      tool_choice: 'none',
      store: true,
      truncation: 'disabled',
      previous_response_id: null,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' } },
    });
    expect((response['tools'] as object[])[0]).toEqual({
      description: null,
      strict: null,
      ...tools[0],
    });
  });
});

describe('the items of a request', () => {
  it('become the turns of a chat', () => {
    const text = promptOf({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Really.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: 'not JSON {' },
        { type: 'function_call_output', call_id: 'c', output: '5' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'five' }] },
      ],
    });
    expect(text).toBe(
      '<|im_start|>system\nBe brief.\n\nReally.<|im_end|>\n<|im_start|>user\na\nb<|im_end|>\n' +
        '<|im_start|>assistant\nhm\n</think>\n\n<tool_call>\n{"name": "f", "arguments": not ' +
        'JSON {}\n</tool_call>\n<|im_end|>\n' +
        '<|im_start|>tool\n5<|im_end|>\n<|im_start|>assistant\nfive<|im_end|>\n' +
        '<|im_start|>assistant\n',
    );
  });

  it('follow those of the previous response, without its instructions', () => {
    const { response } = run({ input: 'Hi', instructions: 'Old.' });
    const context = [
      ...readResponse({ input: 'Hi' }, newId, { dialect: 'openai' }).own,
      ...(response.output as Item[]),
    ];
    const text = promptOf({ input: 'And?' }, context);
    expect(text).toMatch(
      new RegExp(
        String.raw`^<\|im_start\|>user\nHi<\|im_end\|>\n` +
          String.raw`<\|im_start\|>assistant\n[^<]+<\|im_end\|>\n<\|im_start\|>user\nAnd\?`,
      ),
    );
  });

  it('may have any supported type', () => {
    const items = [
      { type: 'custom_tool_call', call_id: 'd', name: 's', input: 'ls' },
      {
        type: 'custom_tool_call_output',
        call_id: 'd',
        output: [{ type: 'input_text', text: 'x' }],
      },
      { type: 'local_shell_call', call_id: 'e', action: { command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'e', output: 'x' },
      { type: 'mcp_approval_request', name: 'n', arguments: '{}', server_label: 's' },
      { type: 'mcp_approval_response', approval_request_id: 'x', approve: true },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'x' }],
        encrypted_content: null,
      },
      { type: 'compaction', encrypted_content: 'x' },
      { role: 'user', content: [{ type: 'refusal', refusal: 'no' }] },
    ];
    expect(parse({ input: items }).items).toHaveLength(items.length);
  });

  it.each([
    [{ input: [{ type: 'poem' }] }, 'input[0].type'],
    [{ input: [{}] }, 'input[0].type'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: 5 }] }, 'input[0].content'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 5 }] }] },
      'input[0].content[0].text',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'input[0].content[0].type'],
    [{ input: ['x'] }, 'input[0]'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input'],
    [{ input: [{ type: 'item_reference', id: 'nope' }] }, 'input[0].id'],
    [{ input: 'x', max_output_tokens: 15 }, 'max_output_tokens'],
    [{ input: 'x', temperature: 2.1 }, 'temperature'],
    [{ input: 'x', top_logprobs: 21 }, 'top_logprobs'],
    [{ input: 'x', metadata: { a: 5 } }, 'metadata'],
    [
      { input: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, 'x'])) },
      'metadata',
    ],
    [{ input: 'x', include: ['everything'] }, 'include'],
    [{ input: 'x', background: true, store: false }, 'background'],
    [{ input: 'x', previous_response_id: 'a', conversation: 'b' }, 'previous_response_id'],
    [{ input: 'x', truncation: 'maybe' }, 'truncation'],
    [{ input: 'x', prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      { input: 'x', tools: [{ type: 'function', name: 'f', parameters: { type: 'nope' } }] },
      'tools[0].parameters',
    ],
    [
      { input: 'x', tools: [{ type: 'web_search' }, { type: 'function', name: 'no spaces' }] },
      'tools[1].name',
    ],
    [
      { input: 'x', text: { format: { type: 'json_schema', name: 's', schema: { enum: [] } } } },
      'text.format.schema',
    ],
    [{ input: 'x', text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ input: 'x', reasoning: { effort: 'wild' } }, 'reasoning.effort'],
    [{ input: 'word '.repeat(5000) }, 'input'],
  ])('wrong item %# is refused with its path', (body, param) => {
    const error = refusal(body);
    expect(error.param).toBe(param);
    const { status, body: text } = renderResponseError(error);
    expect(status).toBe(400);
    expect((JSON.parse(text) as { error: { type: string } }).error.type).toBe(
      'invalid_request_error',
    );
  });

  it('have a minimum of max_output_tokens in the openai dialect only', () => {
    const one = { input: 'x', max_output_tokens: 1 };
    const vllm = { dialect: 'vllm' } as const;
    expect(refusal(one).param).toBe('max_output_tokens');
    expect(parse(one, [], vllm).generation.prompts[0]!.maxTokens).toBe(1);
    expect(refusal({ ...one, max_output_tokens: 0 }, [], vllm).param).toBe('max_output_tokens');
  });

  it('are dropped from the start with truncation auto when there are too many', () => {
    const input = Array.from({ length: 40 }, (_, i) => ({
      role: 'user',
      content: `${i} `.repeat(200),
    }));
    expect(refusal({ input }).code).toBe('context_length_exceeded');
    const text = promptOf({ input, truncation: 'auto' });
    expect(text).toContain('39 39');
    expect(text).not.toContain('0 0 0');
  });
});

describe('tools that only OpenAI runs', () => {
  const hosted = { type: 'web_search' };

  it('accepts fields of a function that chats do not have', () => {
    const deferred = { ...tools[0]!, defer_loading: true };
    expect(parse({ input: 'x', tools: [deferred] }).generation.tools).toBeDefined();
  });

  it('are offered where a namespace groups them', () => {
    const group = { type: 'namespace', name: 'crm', description: 'x', tools: [tools[0]!, hosted] };
    const request = parse({ input: 'x', tools: [group] });
    expect(request.generation.tools?.tools.map(({ name }) => name)).toEqual(['weather']);
    expect(request.skippedTools).toEqual(['web_search']);
  });

  it('are left out and listed, or refused', () => {
    const request = parse({ input: 'x', tools: [hosted, tools[0]!] });
    expect(request.skippedTools).toEqual(['web_search']);
    expect(request.generation.tools?.tools.map(({ name }) => name)).toEqual(['weather']);
    const error = refusal({ input: 'x', tools: [hosted] }, [], { unsupportedTools: 'reject' });
    expect(error.param).toBe('tools[0].type');
  });

  it.each([
    'required',
    { type: 'web_search' },
    { type: 'allowed_tools', mode: 'required', tools: [hosted] },
  ])('cannot be the only tools that tool_choice %j leaves', (choice) => {
    expect(refusal({ input: 'x', tools: [hosted], tool_choice: choice }).param).toBe('tool_choice');
  });

  it('do not prevent an answer in text', () => {
    expect(
      parse({ input: 'x', tools: [hosted], tool_choice: 'auto' }).generation.tools,
    ).toBeUndefined();
  });
});

function textIn(item: Readonly<Record<string, unknown>>): string {
  const [part] = (item['content'] ?? []) as { text: string }[];
  return part?.text ?? ((item['arguments'] ?? item['input']) as string);
}
