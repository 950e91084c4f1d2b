import type { Dialect, Endpoint } from '@baton/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Layout, LiveCluster } from './answers/live-cluster';
import { observe, type Observed } from './answers/observed';
import { PART_RULES } from './answers/part-rules';
import { REFUSALS } from './answers/refusals';
import { type Path, requestBody, type Rule } from './answers/rule';
import { TEXT_RULES } from './answers/text-rules';
import { answerType, wireFaults } from './wire/wire-faults';

const DIALECTS: readonly Dialect[] = ['openai', 'vllm'];
const LAYOUTS: readonly Layout[] = ['disaggregated', 'aggregated'];
const PATHS = { chat: '/v1/chat/completions', completions: '/v1/completions' } as const;
const CONFIG = { reasoning: true, imageTokens: 64 } as const;

/** The same request gives the same text wherever it runs and however it is sent. */
const texts = new Map<string, string>();

function expectSameEverywhere(rule: Rule, { endpoint }: Path, { choices }: Observed): void {
  const text = JSON.stringify(
    choices.map(({ text: t, reasoning, calls }) => [
      t,
      reasoning,
      calls.map((call) => [call.name, call.arguments]),
    ]),
  );
  const key = `${endpoint} ${rule.name}`;
  expect(text).toBe(texts.get(key) ?? text);
  texts.set(key, text);
}

describe.each(DIALECTS)('answers in the %s dialect', (dialect) => {
  describe.each(LAYOUTS)('of %s engines', (layout) => {
    let cluster: LiveCluster;

    beforeAll(async () => {
      cluster = await LiveCluster.open(dialect, layout, CONFIG);
    });

    afterAll(() => cluster.close());

    describe.each(['chat', 'completions'] as const)('from %s,', (endpoint) => {
      describe.each(['streamed', 'whole'] as const)('%s:', (mode) => {
        const path: Path = { endpoint, dialect, isStreamed: mode === 'streamed' };
        const ask = async (body: object): Promise<Observed> =>
          observe(await cluster.fixture.post(PATHS[endpoint], body));
        const rules = [...TEXT_RULES, ...PART_RULES].filter((rule) =>
          holdsFor(rule, endpoint, mode),
        );

        it.each(rules)('$name', async (rule) => {
          const seen = await ask(requestBody(rule, path));
          expect(seen.error).toBeUndefined();
          const type = answerType(endpoint, path.isStreamed);
          for (const body of seen.bodies) expect(wireFaults(body, { dialect, type })).toBe('');
          const plain = await ask(requestBody({ body: {} }, path));
          rule.check(seen, path, plain);
          expectSameEverywhere(rule, path, seen);
        });

        const refusals = REFUSALS.filter((one) => one.endpoints?.includes(endpoint) ?? true);

        it.each(refusals)('refuses $body', async ({ body, param, says }) => {
          const { status, error } = await ask(requestBody({ body }, path));
          expect(status).toBe(400);
          if (dialect === 'openai') expect(error?.param).toBe(param);
          expect(error?.message).toContain(says ?? param.split(/[.[]/)[0]);
          expect(error?.code).toBe(dialect === 'vllm' ? 400 : 'invalid_value');
        });
      });
    });
  });
});

function holdsFor(rule: Rule, endpoint: Endpoint, mode: 'streamed' | 'whole'): boolean {
  return (rule.endpoints?.includes(endpoint) ?? true) && (rule.modes?.includes(mode) ?? true);
}
