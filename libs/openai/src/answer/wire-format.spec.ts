import { BatonError } from '@baton/contract';
import { defaultTokenizer, type OutputPlan } from '@baton/text';
import { type Dialect } from '../refusal/dialect';
import { renderStreamError } from '../refusal/render-error';
import { describe, expect, it } from 'vitest';
import type { GenerationRequest } from '../generation-request';
import { parseChat } from '../request/parse-chat';
import { parseCompletion } from '../request/parse-completion';
import type { AnswerHead } from './answer-head';
import { renderFinal } from './render-final';
import { StreamedAnswer } from './streamed-answer';

const tokenizer = defaultTokenizer();
const FINGERPRINT = 'vllm-0.27.0-3f2a9c1b';

function planOf(text: string): OutputPlan {
  const tokenIds = Int32Array.from(tokenizer.encode(text));
  const ends = { count: tokenIds.length, endReason: 'stop', stopReason: null } as const;
  return { tokenIds, ...ends, hash: 7, cut: undefined, segments: undefined };
}

function chatRequest(dialect: Dialect, more: object = {}): GenerationRequest {
  const messages = [{ role: 'user', content: 'Hi' }];
  const limits = { dialect, tokenizer, models: ['m'], maxModelLen: 8192 };
  return parseChat({ messages, stream: true, ...more }, limits);
}

function completionRequest(dialect: Dialect, more: object = {}): GenerationRequest {
  const limits = { dialect, tokenizer, models: ['m'], maxModelLen: 8192 };
  return parseCompletion({ prompt: [1, 2, 3, 4, 5], stream: true, ...more }, limits);
}

const headOf = (id: string): AnswerHead => ({
  id,
  created: 1787000000,
  model: 'm',
  systemFingerprint: FINGERPRINT,
});

function answer(dialect: Dialect, request: GenerationRequest, text: string): StreamedAnswer {
  const id = request.endpoint === 'chat' ? 'chatcmpl-X' : 'cmpl-X';
  return new StreamedAnswer(request, headOf(id), [planOf(text)], { dialect, tokenizer });
}

const USAGE = { stream_options: { include_usage: true } };

describe("vLLM's bytes", () => {
  const head =
    'data: {"id":"chatcmpl-X","object":"chat.completion.chunk","created":1787000000,"model":"m",';

  it('chat: role, text, and the end with the fingerprint', () => {
    const stream = answer('vllm', chatRequest('vllm'), 'Hi');
    const [sequence] = stream.sequences;
    expect(stream.open()).toBe(
      `${head}"choices":[{"index":0,"delta":{"role":"assistant","content":""},` +
        '"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}\n\n',
    );
    expect(sequence?.tokens(0, 1)).toBe(
      `${head}"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,` +
        '"finish_reason":null,"token_ids":null}]}\n\n',
    );
    expect(sequence?.finishSequence('stop', 1, 0)).toBe(
      `${head}"choices":[{"index":0,"delta":{"content":""},"logprobs":null,` +
        '"finish_reason":"stop","stop_reason":null,"token_ids":null}],' +
        `"system_fingerprint":"${FINGERPRINT}"}\n\n`,
    );
    expect(stream.finishStream()).toBe('data: [DONE]\n\n');
  });

  it('chat: the usage chunk has the fingerprint', () => {
    const stream = answer('vllm', chatRequest('vllm', USAGE), 'Hi there');
    const [sequence] = stream.sequences;
    stream.open();
    sequence?.tokens(0, 1);
    expect(sequence?.finishSequence('stop', 1, 1)).not.toContain('system_fingerprint');
    expect(stream.finishStream()).toBe(
      `${head}"choices":[],"usage":{"prompt_tokens":9,"total_tokens":11,` +
        `"completion_tokens":2},"system_fingerprint":"${FINGERPRINT}"}\n\ndata: ` +
        '[DONE]\n\n',
    );
  });

  it('chat: usage so far follows the choices of every chunk', () => {
    const options = { stream_options: { include_usage: true, continuous_usage_stats: true } };
    const stream = answer('vllm', chatRequest('vllm', options), 'Hi');
    expect(stream.open()).toContain(
      '}],"usage":{"prompt_tokens":9,"total_tokens":9,"completion_tokens":0},' +
        '"prompt_token_ids":null,"prompt_text":null}',
    );
  });

  it('completions: text, and the usage chunk', () => {
    const stream = answer('vllm', completionRequest('vllm', USAGE), ' world again');
    const prefix =
      'data: {"id":"cmpl-X","object":"text_completion","created":1787000000,"model":"m",';
    expect(stream.open()).toBe('');
    expect(stream.sequences[0]?.tokens(0, 1)).toBe(
      `${prefix}"choices":[{"index":0,"text":" ` +
        'world","logprobs":null,"finish_reason":null,"stop_reason":null,' +
        '"prompt_token_ids":null,"token_ids":null}]}\n\n',
    );
    stream.sequences[0]?.finishSequence('length', 1, 1);
    expect(stream.finishStream()).toBe(
      `${prefix}"choices":[],"usage":{"prompt_tokens":5,"total_tokens":7,` +
        `"completion_tokens":2},"system_fingerprint":"${FINGERPRINT}"}\n\ndata: ` +
        '[DONE]\n\n',
    );
  });

  it('whole answers list every field, nulls included', () => {
    const options = { dialect: 'vllm', tokenizer } as const;
    const whole = (request: GenerationRequest, id: string, text: string) =>
      renderFinal({ request, head: headOf(id), options }, [
        { plan: planOf(text), reason: 'stop', count: planOf(text).count },
      ]);
    expect(whole(chatRequest('vllm'), 'chatcmpl-9', 'Hi')).toBe(
      '{"id":"chatcmpl-9","object":"chat.completion","created":1787000000,"model":"m",' +
        '"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,' +
        '"annotations":null,"audio":null,"function_call":null,"reasoning":null},' +
        '"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,' +
        `"routed_experts":null}],"service_tier":null,"system_fingerprint":"${FINGERPRINT}",` +
        '"usage":{"prompt_tokens":9,"total_tokens":10,"completion_tokens":1,' +
        '"prompt_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":null,' +
        '"prompt_text":null,"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
    expect(whole(completionRequest('vllm'), 'cmpl-9', ' world')).toBe(
      '{"id":"cmpl-9","object":"text_completion","created":1787000000,"model":"m",' +
        '"choices":[{"index":0,"text":" ' +
        'world","logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,' +
        '"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null}],' +
        `"service_tier":null,"system_fingerprint":"${FINGERPRINT}",` +
        '"usage":{"prompt_tokens":5,"total_tokens":6,"completion_tokens":1,' +
        '"prompt_tokens_details":null},"kv_transfer_params":null,"ec_transfer_params":null,' +
        '"metrics":null}',
    );
  });

  it('prompt token details appear when the server gives them', () => {
    const options = { dialect: 'vllm', tokenizer, promptTokensDetails: true } as const;
    const plans = [planOf('Hi')];
    const request = chatRequest('vllm', USAGE);
    const head9 = headOf('chatcmpl-9');
    const results = [{ plan: planOf('Hi'), reason: 'stop', count: 1 } as const];
    const body = renderFinal({ request, head: head9, options }, results, { cachedTokens: 8 });
    expect(body).toContain(
      '"prompt_tokens_details":{"cached_tokens":8,"created_cache_tokens":null,' +
        '"multimodal_tokens":null}}',
    );
    const stream = new StreamedAnswer(request, head9, plans, options);
    expect(stream.finishStream({ cachedTokens: 0 })).toContain(
      '"completion_tokens":0,"prompt_tokens_details":{"cached_tokens":0}}',
    );
  });

  it('an error in the stream has Python’s spaces', () => {
    expect(renderStreamError(new BatonError('kv_load_failed'), 'vllm')).toBe(
      'data: {"error": {"message": "Internal server error", "type": "InternalServerError", ' +
        '"param": null, "code": 500}}\n\n',
    );
  });

  it('the whole answer includes the parameters of held KV', () => {
    const request = completionRequest('vllm', { kv_transfer_params: { do_remote_decode: true } });
    const options = { dialect: 'vllm', tokenizer } as const;
    const results = [{ plan: planOf(' a'), reason: 'length', count: 1 } as const];
    const kvTransferParams = { do_remote_prefill: true, remote_block_ids: [[17, 18]] };
    const body = renderFinal({ request, head: headOf('cmpl-9'), options }, results, {
      kvTransferParams,
    });
    expect(body).toContain(
      '"kv_transfer_params":{"do_remote_prefill":true,"remote_block_ids":[[17,18]]},' +
        '"ec_transfer_params":null',
    );
  });
});

describe.each(['vllm', 'openai'] as const)(
  'the answer of a prefill leg beside its token (%s)',
  (dialect) => {
    const options = { dialect, tokenizer } as const;
    const results = [{ plan: planOf(' a'), reason: 'length', count: 1 } as const];
    const [token] = results[0]!.plan.tokenIds;

    it('has the extra fields of the leg where a field of their name stands, or after the reason', () => {
      const request = completionRequest(dialect, { n: 2, kv_transfer_params: {} });
      const both = [results[0]!, results[0]!];
      const body = renderFinal({ request, head: headOf('cmpl-9'), options }, both, {
        extras: {
          body: { prompt_token_ids: '[[1]]', kv_transfer_params: `{"first_tok":${token}}` },
          firstChoice: { disaggregated_params: '{"ctx_request_id":7259873453121536042}' },
        },
      });
      expect(body.match(/"prompt_token_ids":\[\[1\]\],"kv_transfer_params":[^}]*\}/g)).toEqual([
        `"prompt_token_ids":[[1]],"kv_transfer_params":{"first_tok":${token}}`,
      ]);
      const inChoice = {
        vllm: '"token_ids":null,"disaggregated_params":{"ctx_request_id":7259873453121536042},',
        openai:
          '"finish_reason":"length","disaggregated_params":{"ctx_request_id":7259873453121536042}},',
      };
      expect(body.split(inChoice[dialect])).toHaveLength(2);
      expect(body.indexOf(inChoice[dialect])).toBeLessThan(body.indexOf('"index":1'));
    });

    it('has the parameters at the end of a stream when decode keeps its blocks', () => {
      const request = completionRequest(dialect, { stream: true });
      const stream = new StreamedAnswer(request, headOf('cmpl-9'), [planOf(' a')], options);
      const end = stream.finishStream({ kvTransferParams: { do_remote_decode: true } });
      expect(end).toMatch(
        /"choices":\[\],"kv_transfer_params":\{"do_remote_decode":true\}\}\n\ndata: \[DONE\]\n\n$/,
      );
    });

    it('has no parameters in the stream of a prefill leg', () => {
      const asked = { stream: true, kv_transfer_params: { do_remote_decode: true } };
      const request = completionRequest(dialect, asked);
      const stream = new StreamedAnswer(request, headOf('cmpl-9'), [planOf(' a')], options);
      const end = stream.finishStream({ kvTransferParams: { do_remote_prefill: true } });
      expect(end).toBe('data: [DONE]\n\n');
    });
  },
);

describe("OpenAI's bytes", () => {
  const head =
    'data: {"id":"chatcmpl-X","object":"chat.completion.chunk","created":1787000000,"model":"m",' +
    `"system_fingerprint":"${FINGERPRINT}","choices":[`;

  it('chat: the role alone, one field per delta, an empty delta at the end', () => {
    const stream = answer('openai', chatRequest('openai'), 'Hi there');
    const [sequence] = stream.sequences;
    expect(stream.open()).toBe(
      `${head}{"index":0,"delta":{"role":"assistant"},"logprobs":null,"finish_reason":null}]}\n\n`,
    );
    expect(sequence?.tokens(0, 1)).toBe(
      `${head}{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}\n\n`,
    );
    expect(sequence?.finishSequence('length', 1, 1)).toBe(
      `${head}{"index":0,"delta":{"content":" there"},"logprobs":null,"finish_reason":null}]}\n\n` +
        `${head}{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]}\n\n`,
    );
  });

  it('chat: with include_usage every other chunk has a null usage', () => {
    const stream = answer('openai', chatRequest('openai', USAGE), 'Hi');
    expect(stream.open()).toContain('"finish_reason":null}],"usage":null}\n\n');
    expect(stream.sequences[0]?.finishSequence('stop', 0, 1)).toContain(
      '"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\n',
    );
    expect(stream.finishStream({ cachedTokens: 4 })).toBe(
      `${head}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,` +
        '"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},' +
        '"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,' +
        '"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}\n\ndata: [DONE]\n\n',
    );
  });

  it('kv_transfer_params are in answers only to requests that sent them', () => {
    const options = { dialect: 'openai', tokenizer } as const;
    const body = (more: object) =>
      renderFinal(
        { request: completionRequest('openai', more), head: headOf('cmpl-9'), options },
        [{ plan: planOf(' a'), reason: 'length', count: 1 }],
        { kvTransferParams: { do_remote_prefill: true } },
      );
    expect(body({})).not.toContain('kv_transfer_params');
    expect(body({ kv_transfer_params: { do_remote_decode: true } })).toContain(
      '"kv_transfer_params":{"do_remote_prefill":true}}',
    );
  });

  it('an error in the stream is compact and has a string code', () => {
    expect(renderStreamError(new BatonError('broker_unavailable'), 'openai')).toBe(
      'data: {"error":{"message":"The message broker is not reachable. Please retry ' +
        'later.","type":"server_error","param":null,"code":"broker_unavailable"}}\n\n',
    );
  });
});

describe('text beyond ASCII', () => {
  it('is escaped, so that frames can be written as latin1', () => {
    const stream = answer('openai', chatRequest('openai'), 'é "😀"\n');
    const frames =
      stream.open() + stream.sequences[0]!.finishSequence('stop', 0, planOf('é "😀"\n').count);
    expect(frames).toMatch(/^[\n\x20-\x7e]*$/);
    expect(frames).toContain(String.raw`{"content":"\u00e9 \"\ud83d\ude00\"\n"}`);
  });
});
