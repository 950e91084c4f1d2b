import { defaultTokenizer } from '@baton/text';
import { expect } from 'vitest';
import type { ObservedChoice } from './observed';
import { PROMPT, type Rule, type TextEndpoint } from './rule';

const tokenizer = defaultTokenizer();
/** A response is one answer, without the ids of its tokens and without its prompt. */
const both = ['chat', 'completions'] as const;
const first = ({ choices }: { choices: readonly ObservedChoice[] }): ObservedChoice => choices[0]!;
/** A stop string that occurs within a word of every plain answer. */
const MIDDLE = 't';
/** The tokens that sentences and paragraphs end with. */
const FULL_STOPS = ['.', '.\n\n'].map((text) => tokenizer.encode(text)[0]!);

/** Rules of plain text: its cuts, its steering, its counts and its log-probabilities. */
export const TEXT_RULES: readonly Rule[] = [
  {
    name: 'ignore_eos gives exactly max_tokens, and a client counts as many',
    body: {},
    check: (seen) => {
      expect(seen.usage?.completion_tokens).toBe(40);
      expect(tokenizer.encode(first(seen).text)).toHaveLength(40);
      expect(first(seen).finishReason).toBe('length');
    },
  },
  {
    name: 'usage adds up',
    endpoints: both,
    body: { n: 2 },
    check: ({ usage }, _path, plain) => {
      expect(usage?.completion_tokens).toBe(80);
      expect(usage?.prompt_tokens).toBe(plain.usage?.prompt_tokens);
      expect(usage?.total_tokens).toBe(80 + (usage?.prompt_tokens ?? 0));
    },
  },
  {
    name: 'stop cuts before the string',
    body: { stop: ['#', MIDDLE] },
    check: (seen, { dialect, endpoint }, plain) => {
      const { text, finishReason, stopReason } = first(seen);
      const whole = first(plain).text;
      expect(text).toBe(whole.slice(0, whole.indexOf(MIDDLE)));
      expect(finishReason).toBe('stop');
      if (saysWhy(dialect, endpoint)) expect(stopReason).toBe(MIDDLE);
      expect(seen.usage?.completion_tokens).toBeLessThan(40);
    },
  },
  {
    name: 'include_stop_str_in_output cuts behind it',
    body: { stop: MIDDLE, include_stop_str_in_output: true },
    check: (seen, _path, plain) => {
      const whole = first(plain).text;
      expect(first(seen).text).toBe(whole.slice(0, whole.indexOf(MIDDLE) + 1));
    },
  },
  {
    name: 'min_tokens puts stop strings off',
    body: { stop: MIDDLE, min_tokens: 30 },
    check: (seen, _path, plain) => {
      expect(seen.usage?.completion_tokens).toBeGreaterThan(30);
      expect(first(plain).text.startsWith(first(seen).text)).toBe(true);
    },
  },
  {
    name: 'stop_token_ids end with the token as the reason',
    body: { stop_token_ids: FULL_STOPS },
    check: (seen, { dialect, endpoint }, plain) => {
      const { text, finishReason, stopReason } = first(seen);
      expect(text).toBe(first(plain).text.split('.')[0]);
      expect(finishReason).toBe('stop');
      if (saysWhy(dialect, endpoint)) expect(FULL_STOPS).toContain(stopReason);
    },
  },
  {
    name: 'n gives choices of their own',
    endpoints: both,
    body: { n: 3 },
    check: ({ choices }, _path, plain) => {
      expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
      expect(new Set(choices.map(({ text }) => text)).size).toBe(3);
      expect(choices[0]?.text).toBe(first(plain).text);
    },
  },
  {
    name: 'best_of decodes more and shows the likeliest',
    endpoints: ['completions'],
    modes: ['whole'],
    body: { n: 2, best_of: 4, logprobs: 0 },
    check: ({ choices, usage }) => {
      expect(choices.map(({ index }) => index)).toEqual([0, 1]);
      expect(usage?.completion_tokens).toBe(160);
      const [a, b] = choices.map(({ logprobs }) =>
        logprobs!.reduce((sum, t) => sum + t.logprob!, 0),
      );
      expect(a!).toBeGreaterThan(b!);
    },
  },
  {
    name: 'best_of has no effect on chat',
    endpoints: ['chat'],
    body: { best_of: 4 },
    check: (seen, _path, plain) => {
      expect(first(seen).text).toBe(first(plain).text);
      expect(seen.usage?.completion_tokens).toBe(40);
    },
  },
  {
    name: 'seed chooses the text',
    body: { seed: 77 },
    check: (seen, _path, plain) => expect(first(seen).text).not.toBe(first(plain).text),
  },
  {
    name: 'logit_bias bans a token',
    endpoints: both,
    body: (endpoint) => ({
      logit_bias: { [String(tokenOf(endpoint))]: -100 },
      return_token_ids: true,
    }),
    check: (seen, { endpoint }) => {
      expect(first(seen).tokenIds).not.toContain(tokenOf(endpoint));
      expect(first(seen).tokenIds).toHaveLength(40);
    },
  },
  {
    name: 'bad_words never appear',
    body: { bad_words: ['the', '.'] },
    check: (seen) => expect(first(seen).text).not.toMatch(/the|\./),
  },
  {
    name: 'allowed_token_ids leave nothing else',
    body: { allowed_token_ids: tokenizer.encode(' one two three') },
    check: (seen) => expect(first(seen).text).toMatch(/^( one| two| three){40}$/),
  },
  {
    name: 'logprobs come for every token, with as many rivals as asked for',
    body: (endpoint) =>
      endpoint === 'completions' ? { logprobs: 3 } : { logprobs: true, top_logprobs: 3 },
    check: (seen) => {
      const { logprobs, text } = first(seen);
      expect(logprobs).toHaveLength(40);
      expect(logprobs!.map(({ token }) => token).join('')).toBe(text);
      for (const { rivals, logprob } of logprobs!) {
        expect(rivals).toBe(3);
        expect(logprob).toBeLessThan(0);
      }
    },
  },
  {
    name: 'return_tokens_as_token_ids names tokens by number',
    endpoints: both,
    body: (endpoint) => ({
      logprobs: endpoint === 'chat' ? true : 0,
      return_tokens_as_token_ids: true,
    }),
    check: (seen) => {
      for (const { token } of first(seen).logprobs!) expect(token).toMatch(/^token_id:\d+$/);
    },
  },
  {
    name: 'return_token_ids gives the ids of the text',
    endpoints: both,
    body: { return_token_ids: true },
    check: (seen) => {
      expect(first(seen).tokenIds).toEqual(tokenizer.encode(first(seen).text));
      const given = seen.bodies.flatMap((body) => [
        body.prompt_token_ids ?? [],
        ...body.choices.map((choice) => choice.prompt_token_ids ?? []),
      ]);
      expect(given.flat()).toHaveLength(seen.usage?.prompt_tokens ?? 0);
    },
  },
  {
    name: 'prompt_logprobs come for the whole prompt',
    endpoints: both,
    modes: ['whole'],
    body: { prompt_logprobs: 1 },
    check: (seen, { endpoint, dialect }) => {
      const [body] = seen.bodies;
      const list = endpoint === 'chat' ? body?.prompt_logprobs : body?.choices[0]?.prompt_logprobs;
      if (endpoint === 'completions' && dialect === 'openai') return;
      expect(list).toHaveLength(seen.usage?.prompt_tokens ?? 0);
      expect(list?.[0]).toBeNull();
    },
  },
  {
    name: 'echo puts the prompt first',
    endpoints: ['completions'],
    body: { echo: true },
    check: (seen, _path, plain) => expect(first(seen).text).toBe(PROMPT + first(plain).text),
  },
  {
    name: 'echo of a chat repeats the assistant’s last message',
    endpoints: ['chat'],
    body: {
      echo: true,
      messages: [
        { role: 'user', content: PROMPT },
        { role: 'assistant', content: 'They run.' },
      ],
      continue_final_message: true,
    },
    check: (seen) => expect(first(seen).text).toMatch(/^They run\. [A-Z]/),
  },
  {
    name: 'continue_final_message goes on with the sentence',
    endpoints: ['chat'],
    body: {
      messages: [
        { role: 'user', content: PROMPT },
        { role: 'assistant', content: 'First of all' },
      ],
      continue_final_message: true,
    },
    check: (seen) => expect(first(seen).text).toMatch(/^ /),
  },
  {
    name: 'truncate_prompt_tokens keeps the end of the prompt',
    body: { truncate_prompt_tokens: 5 },
    check: (seen) => expect(seen.usage?.prompt_tokens).toBe(5),
  },
  {
    name: 'fields without effect leave the text as it is',
    body: {
      cache_salt: 'mine',
      priority: 3,
      user: 'u',
      metadata: { a: 'b' },
      store: false,
      temperature: 0.3,
      top_p: 0.9,
      presence_penalty: 1,
      vllm_xargs: {},
      length_penalty: 2,
      guided_decoding_backend: 'xgrammar',
      prompt_cache_key: 'k',
      safety_identifier: 's',
      skip_special_tokens: false,
    },
    check: (seen, _path, plain) => expect(first(seen).text).toBe(first(plain).text),
  },
  {
    name: 'service_tier comes back',
    body: { service_tier: 'priority' },
    check: (seen, { isStreamed, dialect, endpoint }) => {
      if (isStreamed && dialect === 'vllm' && endpoint !== 'responses') return;
      expect(seen.bodies[0]?.service_tier).toBe('priority');
    },
  },
  {
    name: 'system_fingerprint and model name the server',
    endpoints: both,
    body: {},
    check: ({ bodies }) => {
      expect(bodies.some((body) => /^(fp_|vllm-)/.test(body.system_fingerprint ?? ''))).toBe(true);
      expect(new Set(bodies.map(({ id, model }) => `${id} ${model}`)).size).toBe(1);
    },
  },
  {
    name: 'return_prompt_text shows the prompt as the model reads it',
    endpoints: ['chat'],
    body: { return_prompt_text: true },
    check: ({ bodies }) => {
      const text = bodies.find((body) => body.prompt_text != null)?.prompt_text;
      expect(text).toMatch(/user\S*\n+Tell me how runners hand over a baton\.<\|/);
    },
  },
];

/** `stop_reason` is a field of vLLM's. */
function saysWhy(dialect: string, endpoint: TextEndpoint): boolean {
  return dialect === 'vllm' && endpoint !== 'responses';
}

/** A token that the plain answer has. */
function tokenOf(endpoint: string): number {
  return tokenizer.encode(endpoint === 'chat' ? '.' : ',')[0]!;
}
