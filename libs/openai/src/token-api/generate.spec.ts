import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../refusal/dialect';
import { planSequence } from '../plan-sequence';
import { parseGenerate, renderGenerate } from './generate';

const tokenizer = defaultTokenizer();
const BODY = {
  request_id: 'r',
  token_ids: tokenizer.encode('hand over'),
  sampling_params: { max_tokens: 3, ignore_eos: true },
};
const limitsOf = (dialect: Dialect) => ({ dialect, tokenizer, models: ['m'], maxModelLen: 64 });

function answerOf(body: object, dialect: Dialect = 'vllm'): string {
  const request = parseGenerate(body, limitsOf(dialect));
  const plan = planSequence(request, { index: 0 }, { tokenizer, seed: 1, lengthModel: () => 9 });
  const head = { id: 'r', created: 7, model: 'm', systemFingerprint: 'f' };
  const results = [{ plan, reason: plan.endReason, count: plan.count }];
  return renderGenerate({ request, head, options: { dialect, tokenizer } }, results);
}

describe('POST /inference/v1/generate', () => {
  it.each(['openai', 'vllm'] as const)('gives ids for ids, in vLLM’s shape (%s)', (dialect) => {
    const request = parseGenerate(BODY, limitsOf(dialect));
    const { tokenIds } = planSequence(
      request,
      { index: 0 },
      { tokenizer, seed: 1, lengthModel: () => 9 },
    );
    expect(answerOf(BODY, dialect)).toBe(
      '{"request_id":"r","model":"m","created":7,"choices":[{"index":0,"logprobs":null,' +
        `"finish_reason":"length","token_ids":[${tokenIds.join()}]}],` +
        '"usage":{"prompt_tokens":2,"total_tokens":5,"completion_tokens":3,' +
        '"prompt_tokens_details":null},"prompt_logprobs":null,"kv_transfer_params":null}',
    );
  });

  it('gives log-probabilities on request', () => {
    const sampling_params = { ...BODY.sampling_params, logprobs: 2, prompt_logprobs: 1 };
    const { choices, prompt_logprobs } = JSON.parse(answerOf({ ...BODY, sampling_params })) as {
      choices: { logprobs: { content: { top_logprobs: unknown[] }[] } }[];
      prompt_logprobs: unknown[];
    };
    expect(choices[0]?.logprobs.content).toHaveLength(3);
    expect(choices[0]?.logprobs.content[0]?.top_logprobs.length).toBeGreaterThanOrEqual(2);
    expect(prompt_logprobs).toHaveLength(2);
  });

  it('accepts kv_transfer_params beside the sampling parameters or among them', () => {
    const kv_transfer_params = { do_remote_decode: true };
    const nested = { ...BODY.sampling_params, extra_args: { kv_transfer_params } };
    for (const body of [
      { ...BODY, kv_transfer_params },
      { ...BODY, sampling_params: nested },
    ]) {
      const { kvTransferParams } = parseGenerate(body, limitsOf('vllm'));
      expect(kvTransferParams).toEqual(kv_transfer_params);
    }
  });

  it.each([
    ['no ids', { token_ids: undefined }, 'token_ids'],
    ['an empty list of ids', { token_ids: [] }, 'token_ids'],
    ['a text', { token_ids: 'a' }, 'token_ids'],
    ['no sampling_params', { sampling_params: undefined }, 'sampling_params'],
    ['a sampling parameter out of range', { sampling_params: { n: 0 } }, 'n'],
    ['options of a stream without one', { stream_options: {} }, 'stream_options'],
    ['an echo', { sampling_params: { echo: true } }, 'sampling_params.echo'],
  ])('refuses %s', (_, change, param) => {
    expect(() => parseGenerate({ ...BODY, ...change }, limitsOf('openai'))).toThrow(
      expect.objectContaining({ param }),
    );
  });
});
