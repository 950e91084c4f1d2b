import { BatonError } from '@baton/contract';
import {
  type AnswerHead,
  parseChat,
  parseCompletion,
  planSequence,
  renderFinal,
  StreamedAnswer,
} from '@baton/openai';
import { defaultTokenizer } from '@baton/text';
import { describe, expect, it } from 'vitest';

/**
 * The sequences that vLLM's own classes write, line by line as noted from its source. The answers
 * here have the same text.
 */
const tokenizer = defaultTokenizer();
const options = { dialect: 'vllm', tokenizer } as const;
const limits = { ...options, models: ['m'], maxModelLen: 8192, isReasoning: true };

const HEAD: Omit<AnswerHead, 'id'> = {
  created: 1_787_000_000,
  model: 'm',
  systemFingerprint: 'vllm-0.27.0-3f2a9c1b',
};
const FINGERPRINT = '"system_fingerprint":"vllm-0.27.0-3f2a9c1b"';
const CHAT =
  '{"id":"chatcmpl-X","object":"chat.completion.chunk","created":1787000000,"model":"m","choices":[';
const TEXT =
  '{"id":"cmpl-X","object":"text_completion","created":1787000000,"model":"m","choices":[';

type Fields = Readonly<Record<string, unknown>>;

function setting(endpoint: 'chat' | 'completions', fields: Fields) {
  const isChat = endpoint === 'chat';
  const messages = [{ role: 'user', content: 'Say it.' }];
  const request = isChat
    ? parseChat({ messages, reasoning_effort: 'none', ...fields }, limits)
    : parseCompletion({ prompt: 'Hello', ...fields }, limits);
  const plan = planSequence(request, { index: 0 }, { tokenizer, seed: 0, lengthModel: () => 4 });
  const head = { ...HEAD, id: isChat ? 'chatcmpl-X' : 'cmpl-X' };
  return { request, plan, head, promptTokens: request.prompts[0]!.ids.length };
}

/** The data of every frame, one token a step. */
function frames(endpoint: 'chat' | 'completions', fields: Fields, failsAt = Infinity): string[] {
  const { request, plan, head } = setting(endpoint, { stream: true, ...fields });
  const answer = new StreamedAnswer(request, head, [plan], options);
  const [sequence] = answer.sequences;
  let bytes = answer.open();
  for (let at = 0; at < Math.min(failsAt, plan.count - 1); at++) bytes += sequence!.tokens(at, 1);
  if (failsAt < plan.count) bytes += answer.fail(new BatonError('engine_error'));
  else bytes += sequence!.finishSequence(plan.endReason, plan.count - 1, 1) + answer.finishStream();
  const parts = bytes.split('\n\n');
  expect(parts.pop()).toBe('');
  return parts.map((frame) => {
    expect(frame.startsWith('data: ')).toBe(true);
    return frame.slice('data: '.length);
  });
}

function body(endpoint: 'chat' | 'completions', fields: Fields): string {
  const { request, plan, head } = setting(endpoint, fields);
  const results = [{ plan, reason: plan.endReason, count: plan.count }];
  return renderFinal({ request, head, options }, results);
}

const say = (text: string): Fields => ({ structured_outputs: { choice: [text] } });
const usage = (prompt: number, output: number): string =>
  `"usage":{"prompt_tokens":${prompt},"total_tokens":${prompt + output},"completion_tokens":${output}}`;

describe('a chat stream of vLLM', () => {
  it('is role, tokens, the last one with its reason, and [DONE]', () => {
    expect(frames('chat', say('Hi you'))).toEqual([
      `${CHAT}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}`,
      `${CHAT}{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
      `${CHAT}{"index":0,"delta":{"content":" you"},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],${FINGERPRINT}}`,
      '[DONE]',
    ]);
  });

  it('has its fingerprint on the usage chunk when there is one', () => {
    const fields = { ...say('Hi you'), stream_options: { include_usage: true } };
    const { promptTokens } = setting('chat', { ...fields, stream: true });
    const seen = frames('chat', fields);
    expect(seen.at(-3)).not.toContain('system_fingerprint');
    expect(seen.at(-2)).toBe(`${CHAT}],${usage(promptTokens, 2)},${FINGERPRINT}}`);
  });

  it('counts in every chunk on request, directly after the choices', () => {
    const fields = {
      ...say('Hi you'),
      stream_options: { include_usage: true, continuous_usage_stats: true },
    };
    const { promptTokens } = setting('chat', { ...fields, stream: true });
    const seen = frames('chat', fields);
    expect(seen[0]).toContain(
      `"finish_reason":null}],${usage(promptTokens, 0)},"prompt_token_ids"`,
    );
    expect(seen[1]?.endsWith(`}],${usage(promptTokens, 1)}}`)).toBe(true);
  });

  it('has an additional event for the echo, without token ids', () => {
    const messages = [
      { role: 'user', content: 'Say it.' },
      { role: 'assistant', content: 'It' },
    ];
    const [, echo] = frames('chat', { ...say('Hi you'), messages, echo: true });
    expect(echo).toBe(
      `${CHAT}{"index":0,"delta":{"content":"It"},"logprobs":null,"finish_reason":null}]}`,
    );
  });

  it('sends reasoning and calls in separate deltas', () => {
    const thought = frames('chat', { reasoning_effort: 'low' })[1];
    expect(thought).toMatch(/"delta":\{"reasoning":"[^"]+"\}/);
    const parameters = { type: 'object', properties: { a: { const: 1 } }, required: ['a'] };
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    const [, head, ...rest] = frames('chat', { tools, tool_choice: 'required' });
    expect(head).toMatch(
      /"delta":\{"tool_calls":\[\{"id":"chatcmpl-tool-\w{32}","type":"function","index":0,"function":\{"name":"f","arguments":""\}\}\]\}/,
    );
    expect(rest[0]).toMatch(
      /"delta":\{"tool_calls":\[\{"index":0,"function":\{"arguments":"\{[^}]*"\}\}\]\}/,
    );
  });

  it('ends with an error in Python’s spacing, and [DONE]', () => {
    expect(frames('chat', say('Hi you'), 1).slice(-2)).toEqual([
      '{"error": {"message": "Internal server error", "type": "InternalServerError", "param": null, "code": 500}}',
      '[DONE]',
    ]);
  });
});

describe('a completion stream of vLLM', () => {
  it('has every key of a choice in every chunk, and no role', () => {
    const [first] = frames('completions', say(' world now'));
    expect(first).toBe(
      `${TEXT}{"index":0,"text":" world","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}`,
    );
  });

  it('ends with the usage chunk on request', () => {
    const fields = { ...say(' world now'), stream_options: { include_usage: true } };
    const { promptTokens } = setting('completions', { ...fields, stream: true });
    expect(frames('completions', fields).at(-2)).toBe(
      `${TEXT}],${usage(promptTokens, 2)},${FINGERPRINT}}`,
    );
  });
});

describe('an answer of vLLM in one piece', () => {
  it('of completions has every field, nulls included', () => {
    const { promptTokens } = setting('completions', say(' world'));
    expect(body('completions', say(' world'))).toBe(
      '{"id":"cmpl-X","object":"text_completion","created":1787000000,"model":"m",' +
        '"choices":[{"index":0,"text":" world","logprobs":null,"finish_reason":"stop","stop_reason":null,' +
        '"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null}],' +
        `"service_tier":null,${FINGERPRINT},` +
        `"usage":{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + 1},"completion_tokens":1,"prompt_tokens_details":null},` +
        '"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
  });

  it('of chat has every field, nulls included', () => {
    const { promptTokens } = setting('chat', say('Hi'));
    expect(body('chat', say('Hi'))).toBe(
      '{"id":"chatcmpl-X","object":"chat.completion","created":1787000000,"model":"m",' +
        '"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"annotations":null,' +
        '"audio":null,"function_call":null,"reasoning":null},' +
        '"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,"routed_experts":null}],' +
        `"service_tier":null,${FINGERPRINT},` +
        `"usage":{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + 1},"completion_tokens":1,"prompt_tokens_details":null},` +
        '"prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,' +
        '"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}',
    );
  });

  it('has tool_calls between function_call and reasoning, and no content', () => {
    const parameters = { type: 'object', properties: { city: { const: 'Oslo' } } };
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];
    expect(body('chat', { tools, tool_choice: 'required', parallel_tool_calls: false })).toMatch(
      /"message":\{"role":"assistant","content":null,"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":\[\{"id":"chatcmpl-tool-\w{32}","type":"function","function":\{"name":"get_weather","arguments":"[^}]*\}"\}\}\],"reasoning":null\},"logprobs":null,"finish_reason":"tool_calls"/,
    );
  });
});
