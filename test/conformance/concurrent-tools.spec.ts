import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveCluster } from './answers/live-cluster';
import { observe } from './answers/observed';
import { observeResponse } from './answers/observed-response';
import { asResponseBody } from './answers/response-body';

const STREAMS = 100;

describe.each(['openai', 'vllm'] as const)(
  'many chats and responses at once in the %s dialect',
  (dialect) => {
    let cluster: LiveCluster;

    beforeAll(async () => {
      cluster = await LiveCluster.open(dialect, 'disaggregated');
    });

    afterAll(() => cluster.close());

    it('keep their tools, texts and ids apart', async () => {
      const ask = async (i: number) => {
        const value = `value-${i}`;
        const parameters = {
          type: 'object',
          properties: { only: { const: value } },
          required: ['only'],
        };
        const tools = [{ type: 'function', function: { name: `tool_${i}`, parameters } }];
        const messages = [{ role: 'user', content: `Number ${i}` }];
        const own = i % 3 === 0 ? {} : { tools, tool_choice: 'required' };
        const body = { messages, stream: i % 2 === 0, max_tokens: 300, ...own };
        const { fixture } = cluster;
        const seen =
          i % 4 < 2
            ? await observe(await fixture.post('/v1/chat/completions', body))
            : await observeResponse(await fixture.post('/v1/responses', asResponseBody(body)));
        return { i, value, choice: seen.choices[0]! };
      };
      const answers = await Promise.all(Array.from({ length: STREAMS }, (_, i) => ask(i)));
      const ids = answers.flatMap(({ choice }) => choice.calls.map(({ id }) => id));
      expect(new Set(ids).size).toBe(ids.length);
      for (const { i, value, choice } of answers) {
        if (i % 3 === 0) expect([choice.calls, choice.text === '']).toEqual([[], false]);
        for (const call of choice.calls) {
          expect(call.name).toBe(`tool_${i}`);
          expect(JSON.parse(call.arguments)).toEqual({ only: value });
        }
        expect(choice.calls.length > 0).toBe(i % 3 !== 0);
      }
    });
  },
);
