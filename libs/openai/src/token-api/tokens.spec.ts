import { defaultTokenizer } from '@baton/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChat } from '../request/parse-chat';
import { detokenizeBody, tokenizeBody, tokenizerInfoBody } from './tokens';

const LIMITS = {
  dialect: 'vllm' as const,
  tokenizer: defaultTokenizer(),
  models: ['m'],
  maxModelLen: 128,
};

interface Tokens {
  readonly count: number;
  readonly max_model_len: number;
  readonly tokens: number[];
  readonly token_strs: string[] | null;
}

const tokenize = (body: object): Tokens => JSON.parse(tokenizeBody(body, LIMITS)) as Tokens;

describe('POST /tokenize', () => {
  it('gives the ids of a text, and the text of these ids', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50 }), (prompt) => {
        const { count, tokens } = tokenize({ prompt });
        expect(tokens).toHaveLength(count);
        expect(JSON.parse(detokenizeBody({ tokens }, LIMITS))).toEqual({ prompt });
      }),
      { seed: 3 },
    );
  });

  it('has the four keys of vLLM', () => {
    expect(tokenizeBody({ prompt: 'a b' }, LIMITS)).toBe(
      `{"count":2,"max_model_len":128,"tokens":[${LIMITS.tokenizer
        .encode('a b')
        .join()}],"token_strs":null}`,
    );
  });

  it('gives the texts of tokens on request', () => {
    expect(tokenize({ prompt: 'a b', return_token_strs: true }).token_strs).toEqual(['a', ' b']);
  });

  it('gives a conversation the ids of the same chat', () => {
    const messages = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'why?' },
    ];
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const body = { messages, tools };
    const { prompts } = parseChat(body, LIMITS);
    expect(tokenize(body).tokens).toEqual([...prompts[0]!.ids]);
    const closed = tokenize({ ...body, add_generation_prompt: false });
    expect(closed.count).toBeLessThan(tokenize(body).count);
  });

  it('also counts texts longer than the context', () => {
    expect(tokenize({ prompt: 'a '.repeat(500) }).count).toBeGreaterThan(128);
  });

  it('gives the same ids with and without special tokens', () => {
    const prompt = 'hand over <|im_end|>';
    const [a, b] = [true, false].map((flag) => tokenize({ prompt, add_special_tokens: flag }));
    expect(a).toEqual(b);
  });

  it('refuses a template in the request', () => {
    const messages = [{ role: 'user', content: 'a' }];
    expect(() => tokenize({ messages, chat_template: '{{ x }}' })).toThrow(/untrusted/);
  });

  it('refuses texts of more than 1,048,576 tokens', () => {
    expect(() => tokenize({ prompt: 'a '.repeat(2 ** 20 + 1) })).toThrow(/1048576 tokens/);
  });

  it.each([
    ['neither prompt nor messages', {}, 'prompt'],
    ['a prompt of another type', { prompt: ['a'] }, 'prompt'],
    ['a flag of another type', { prompt: 'a', return_token_strs: 1 }, 'return_token_strs'],
    ['an unknown model', { prompt: 'a', model: 'n' }, null],
  ])('refuses %s', (_, body, param) => {
    expect(() => tokenize(body)).toThrow(expect.objectContaining({ param }));
  });
});

describe('POST /detokenize', () => {
  it.each([
    ['no tokens', {}],
    ['a negative id', { tokens: [-1] }],
    ['an id of no token', { tokens: [2 ** 40] }],
    ['a text', { tokens: 'a' }],
  ])('refuses %s', (_, body) => {
    expect(() => detokenizeBody(body, LIMITS)).toThrow(
      expect.objectContaining({ param: expect.stringMatching(/^tokens/) as string }),
    );
  });
});

describe('GET /tokenizer_info', () => {
  it('names the tokenizer and its special tokens', () => {
    expect(JSON.parse(tokenizerInfoBody(LIMITS))).toMatchObject({
      tokenizer_class: LIMITS.tokenizer.name,
      vocab_size: LIMITS.tokenizer.vocabSize,
      eos_token: '<|im_end|>',
      model_max_length: 128,
    });
  });
});
