import type { Dialect } from '@baton/openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Layout, LiveCluster } from './answers/live-cluster';
import { observe, type Observed } from './answers/observed';
import { observeResponse } from './answers/observed-response';
import { PART_RULES } from './answers/part-rules';
import { REFUSALS } from './answers/refusals';
import { type Path, requestBody, type Rule, type TextEndpoint } from './answers/rule';
import { TEXT_RULES } from './answers/text-rules';
import { answerType, eventFaults, wireFaults } from './wire/wire-faults';

const DIALECTS: readonly Dialect[] = ['openai', 'vllm'];
const LAYOUTS: readonly Layout[] = ['disaggregated', 'aggregated'];
const PATHS: Readonly<Record<TextEndpoint, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
};
const CONFIG = { reasoning: true, imageTokens: 64 } as const;

/**
 * The same request gives the same texts at every endpoint and in every form of request, choice by
 * choice.
 */
const texts = new Map<string, readonly string[]>();

function expectSameEverywhere(rule: Rule, { endpoint }: Path, { choices }: Observed): void {
  const own = choices.map(({ text, reasoning, calls }) =>
    JSON.stringify([text, reasoning, calls.map((call) => [call.name, call.arguments])]),
  );
  // A response is equivalent to a chat of one choice.
  const key = `${endpoint === 'completions' ? endpoint : 'chat'} ${rule.name}`;
  const known = texts.get(key) ?? own;
  const common = Math.min(known.length, own.length);
  expect(own.slice(0, common)).toEqual(known.slice(0, common));
  texts.set(key, known.length > own.length ? known : own);
}

describe.each(DIALECTS)('answers in the %s dialect', (dialect) => {
  describe.each(LAYOUTS)('of %s engines', (layout) => {
    let cluster: LiveCluster;

    beforeAll(async () => {
      cluster = await LiveCluster.open(dialect, layout, CONFIG);
    });

    afterAll(() => cluster.close());

    describe.each(['chat', 'completions', 'responses'] as const)('from %s,', (endpoint) => {
      describe.each(['streamed', 'whole'] as const)('%s:', (mode) => {
        const observer = endpoint === 'responses' ? observeResponse : observe;
        const path: Path = { endpoint, dialect, isStreamed: mode === 'streamed' };
        const ask = async (body: object): Promise<Observed> =>
          observer(await cluster.fixture.post(PATHS[endpoint], body));
        let plain: Observed;
        const rules = [...TEXT_RULES, ...PART_RULES].filter((rule) =>
          holdsFor(rule, endpoint, mode),
        );

        it.concurrent.each(rules)('$name', async (rule) => {
          const seen = await ask(requestBody(rule, path));
          expect(seen.error).toBeUndefined();
          expect(faultsOf(seen, path)).toEqual([]);
          plain ??= await ask(requestBody({ body: {} }, path));
          rule.check(seen, path, plain);
          expectSameEverywhere(rule, path, seen);
        });

        const refusals = REFUSALS.filter((one) => one.endpoints?.includes(endpoint) ?? true);

        it.concurrent.each(refusals)('refuses $body', async (refusal) => {
          const { body, param: name, says, responseParam, code = 'invalid_value' } = refusal;
          const { status, error } = await ask(requestBody({ body }, path));
          expect(status).toBe(400);
          const isResponse = endpoint === 'responses';
          const param = isResponse ? (responseParam ?? name) : name;
          if (dialect === 'openai' || isResponse) expect(error?.param).toBe(param);
          expect(error?.message).toContain(says ?? param.split(/[.[]/)[0]);
          expect(error?.code).toBe(dialect === 'vllm' && !isResponse ? 400 : code);
        });
      });
    });
  });
});

/** Fields and values of all answers that are not in the types of OpenAI's client. */
function faultsOf({ bodies, response }: Observed, { endpoint, dialect, isStreamed }: Path) {
  if (endpoint !== 'responses') {
    const type = answerType(endpoint, isStreamed);
    return bodies.map((body) => wireFaults(body, { dialect, type })).filter((one) => one !== '');
  }
  const { body, events } = response!;
  return [
    wireFaults(body, { dialect, type: 'Response' }),
    ...events.map((event) => eventFaults(event, dialect)),
  ].filter((one) => one !== '');
}

function holdsFor(rule: Rule, endpoint: TextEndpoint, mode: 'streamed' | 'whole'): boolean {
  return (rule.endpoints?.includes(endpoint) ?? true) && (rule.modes?.includes(mode) ?? true);
}
