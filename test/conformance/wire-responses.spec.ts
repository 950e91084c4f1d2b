import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/test/api-fixture';
import { wireFaults } from './wire/wire-faults';

type Fields = Record<string, unknown>;

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const TOOL = { type: 'function', name: 'weather', parameters: SCHEMA, strict: true };
const ASK = { model: 'llama-3.1-8b', input: 'Why does a relay need a baton?' };

const CASES: readonly (readonly [string, Fields])[] = [
  ['a text', ASK],
  ['a text that the limit cuts', { ...ASK, max_output_tokens: 16 }],
  ['a call of a tool', { ...ASK, tools: [TOOL], tool_choice: 'required' }],
  ['reasoning', { ...ASK, reasoning: { effort: 'low' } }],
  [
    'JSON of a schema',
    { ...ASK, text: { format: { type: 'json_schema', name: 's', schema: SCHEMA } } },
  ],
  ['log-probabilities', { ...ASK, include: ['message.output_text.logprobs'], top_logprobs: 2 }],
];

/** Events that only vLLM has. */
const VLLM_EVENT = /^response\.reasoning_part\.(added|done)$/;
const VLLM_EVENT_KEYS = [
  ...['content_index', 'item_id', 'output_index', 'part', 'sequence_number', 'type'],
];

describe.each(['openai', 'vllm'] as const)('responses in the %s dialect', (dialect) => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    const config = { dialect, reasoning: true };
    fixture = await ApiFixture.start({ config, engines: [{ isEager: true }] });
  });

  afterAll(() => fixture.stop());

  const faults = (body: unknown, type: string): string => wireFaults(body, { dialect, type });

  it.each(CASES)('have the type of OpenAI’s client: %s', async (_name, body) => {
    const answer = await fixture.post('/v1/responses', body);
    expect(answer.status).toBe(200);
    const whole = (await answer.json()) as Fields;
    expect(faults(whole, 'Response')).toBe('');
    const url = `${fixture.api.url}/v1/responses/${whole['id'] as string}`;
    expect(faults(await (await fetch(url)).json(), 'Response')).toBe('');
    const items = (await (await fetch(`${url}/input_items`)).json()) as { data: Fields[] };
    for (const item of items.data) expect(faults(item, 'ResponseItem')).toBe('');
  });

  it.each(CASES)('stream events of the client’s types: %s', async (_name, body) => {
    const answer = await fixture.post('/v1/responses', { ...body, stream: true });
    const events = [...(await answer.text()).matchAll(/^data: (\{.*\})$/gm)];
    expect(events.length).toBeGreaterThan(4);
    for (const [, json] of events) {
      const event = JSON.parse(json!) as Fields;
      if (dialect === 'vllm' && VLLM_EVENT.test(event['type'] as string)) {
        expect(Object.keys(event).sort()).toEqual(VLLM_EVENT_KEYS);
      } else {
        expect(faults(event, 'ResponseStreamEvent')).toBe('');
      }
    }
  });
});
