import type { BatonConfig } from '@baton/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiFixture } from '../../../test/api-fixture';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { ask, type Asking, ENDPOINTS, type Seen } from '../../../test/every-endpoint';

const MODELS: readonly (readonly [BatonConfig['textModel'], Partial<BatonConfig>])[] = [
  ['simulated', {}],
  ['echo', {}],
  ['random', { tokenizer: 'cl100k', chatTemplate: 'qwen' }],
  ['dataset', { answersPath: 'data/text/answers.jsonl' }],
  ['rules', { rulesPath: 'data/text/rules.yaml' }],
];

const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
const TEXT =
  'Explain KV transfer. Take your time, and name all the parts, one by one, as they come.';
const CASES: readonly (readonly [string, Asking])[] = [
  ['as it is', { text: TEXT }],
  ['up to a limit', { text: TEXT, maxTokens: 16 }],
  ['up to a stop string', { text: TEXT, more: { stop: [' the', ' a'] } }],
  ['with all tokens that are allowed', { text: TEXT, maxTokens: 120, more: { ignore_eos: true } }],
  [
    'with a schema',
    {
      text: TEXT,
      more: { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
    },
  ],
];
/** The shapes that have the fields of the last three cases. */
const OPENAI_SHAPES = ['chat', 'completions'];

describe.each(MODELS)('the text model %s', (textModel, more) => {
  const clusters: ClusterFixture[] = [];
  beforeAll(async () => {
    for (const dialect of ['openai', 'vllm'] as const) {
      const config = { ...more, textModel, dialect, outputLengthMean: 30 };
      clusters.push(await ClusterFixture.start({ prefill: 1, decode: 1 }, config));
      clusters.push(await ClusterFixture.start({ aggregated: 1 }, config));
    }
  });
  afterAll(async () => {
    for (const cluster of clusters) await cluster.stop();
  });

  const cells = ENDPOINTS.flatMap((endpoint) =>
    CASES.filter(([, { more: fields }]) => !fields || OPENAI_SHAPES.includes(endpoint)).map(
      ([name, asking]) => [endpoint, name, asking] as const,
    ),
  );

  it.each(cells)(
    'answers %s %s the same on every path, streamed or not',
    async (endpoint, _, asking) => {
      const answers: Seen[] = [];
      for (const cluster of clusters) {
        for (const stream of [false, true]) {
          answers.push(await ask(atUrl(cluster.api.url), endpoint, { ...asking, stream }));
        }
      }
      const [first] = answers;
      expect(first).toMatchObject({ status: 200 });
      expect(first!.completionTokens).toBeGreaterThan(0);
      expect(answers).toEqual(answers.map(() => first));
      if (asking.more && 'response_format' in asking.more) {
        expect(JSON.parse(first!.text)).toHaveProperty('a');
      }
      if (asking.more && 'ignore_eos' in asking.more) expect(first!.completionTokens).toBe(120);
    },
  );
});

function atUrl(url: string): Pick<ApiFixture, 'post'> {
  return {
    post: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}
