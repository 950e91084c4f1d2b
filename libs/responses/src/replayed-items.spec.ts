import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import { planSequence } from '@baton/openai';
import type { Item } from './items';
import { parseResponse, readResponse, type ResponseLimits } from './parse-response';
import type { ResponseObject } from './response-object';
import { ResponseOutcome } from './response-outcome';

const tokenizer = defaultTokenizer();
const limits: ResponseLimits = {
  dialect: 'openai',
  tokenizer,
  models: ['m'],
  maxModelLen: 4096,
  isReasoning: true,
  extraToolCallProbability: 1,
};
const weather = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { enum: ['Oslo'] } }, required: ['city'] },
};
let ids = 0;
const draftOf = (body: object) =>
  readResponse(body, (prefix) => `${prefix}_${ids++}`, { dialect: 'openai' });
const parse = (body: object, context: readonly Item[] = [], more: Partial<ResponseLimits> = {}) =>
  parseResponse(draftOf(body), context, { ...limits, ...more });
const promptOf = (input: readonly object[]): string =>
  tokenizer.decode(parse({ input }).generation.prompts[0]!.ids);

function answer(body: object, more: Partial<ResponseLimits> = {}): ResponseObject {
  const request = parse(body, [], more);
  const context = { tokenizer, seed: 0, lengthModel: () => 12 };
  const plan = planSequence(request.generation, { index: 0 }, context);
  const head = { id: 'resp_1', created: 1, model: 'm', systemFingerprint: 'fp' };
  const options = { dialect: 'openai', tokenizer } as const;
  const outcome = new ResponseOutcome({ request, head, plan, options }, () => 2);
  return outcome.endResponse({ reason: plan.endReason, count: plan.count, cachedTokens: 0 });
}

const ofType = ({ output }: ResponseObject, type: string): readonly Item[] =>
  output.filter((item) => item.type === type);

describe('items that a client sends back', () => {
  it.each(['{"city": "Oslo"}', '{"city":"Oslo" }', 'not JSON {', '', '\u2028"\\'])(
    'keep the arguments %j unchanged',
    (args) => {
      const call = { type: 'function_call', call_id: 'c', name: 'weather', arguments: args };
      const result = { type: 'function_call_output', call_id: 'c', output: 'rain' };
      const { own } = draftOf({ input: [call, result] });
      expect(own[0]).toEqual({ ...call, id: own[0]!.id });
      expect(promptOf([call, result])).toContain(`"arguments": ${args}}`);
    },
  );

  it('have the same tokens sealed and open, for reasoning with its answer', () => {
    const include = ['reasoning.encrypted_content'];
    const response = answer({ input: 'Hi', reasoning: { effort: 'low' }, include });
    const [thought] = ofType(response, 'reasoning');
    expect(thought).toHaveProperty('encrypted_content');
    const { content: _content, ...sealed } = thought!;
    const rest = ofType(response, 'message');
    const question = { role: 'user', content: 'Hi' };
    expect(promptOf([question, sealed, ...rest])).toBe(promptOf([question, thought!, ...rest]));
    expect(promptOf([question, sealed, ...rest])).not.toBe(promptOf([question, ...rest]));
  });

  it('sealed elsewhere are used unchanged', () => {
    const foreign = { type: 'compaction', encrypted_content: 'gAAAA_not ours' };
    expect(promptOf([foreign])).toContain('gAAAA_not ours');
  });

  it('with a text equal those with one part', () => {
    const { own } = draftOf({ input: [{ role: 'user', content: 'x' }] });
    expect(own[0]).toMatchObject({
      type: 'message',
      status: 'completed',
      content: [{ type: 'input_text', text: 'x' }],
    });
  });
});

describe('an answer', () => {
  const tools = [weather];

  it('calls at most max_tool_calls tools', () => {
    const asked = { input: 'Hi', tools, tool_choice: 'required', max_output_tokens: 400 };
    expect(ofType(answer(asked), 'function_call').length).toBeGreaterThan(1);
    expect(ofType(answer({ ...asked, max_tool_calls: 1 }), 'function_call')).toHaveLength(1);
  });

  it('may be a refusal, for any request', () => {
    const text = { format: { type: 'json_schema', name: 's', schema: weather.parameters } };
    const bodies = [{}, { tools, tool_choice: 'required' }, { text }];
    for (const body of bodies) {
      const { output, status } = answer({ input: 'Hi', ...body }, { refusalProbability: 1 });
      expect(status).toBe('completed');
      expect(output).toHaveLength(1);
      expect(output[0]?.['content']).toEqual([
        { type: 'refusal', refusal: expect.stringMatching(/^[A-Z]/) as string },
      ]);
    }
    const drawn = Array.from({ length: 200 }, (_, i) =>
      JSON.stringify(answer({ input: `${i}` }, { refusalProbability: 0.25 })).includes('"refusal"'),
    );
    const share = drawn.filter((isRefused) => isRefused).length / drawn.length;
    expect(share).toBeGreaterThan(0.12);
    expect(share).toBeLessThan(0.4);
  });

  it('of a model without reasoning repeats the reasoning fields, and has no reasoning', () => {
    const body = { input: 'Hi', reasoning: { effort: 'high', summary: 'auto' } };
    const response = answer(body, { isReasoning: false });
    expect(response['reasoning']).toEqual({ effort: 'high', summary: 'auto' });
    expect(response.output.map(({ type }) => type)).toEqual(['message']);
  });
});
