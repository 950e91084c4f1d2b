import { type Attack, EITHER, list, members } from './attack';
import { CONNECTION_ROWS } from './connection-rows';
import { RESPONSE_ROWS } from './response-rows';

const CHAT = '/v1/chat/completions';
const TEXT = '/v1/completions';
const MESSAGES = [{ role: 'user', content: 'Hello.' }];

function confined(schema: object): object {
  const json_schema = { name: 'attack', schema };
  return { messages: MESSAGES, response_format: { type: 'json_schema', json_schema } };
}

function structured(structured_outputs: object): object {
  return { messages: MESSAGES, max_tokens: 64, structured_outputs };
}

/** Each property has a pattern whose automaton has nearly the maximum size. */
function patterned(count: number): object {
  const properties = members(count, (i) => [
    `p${i}`,
    { type: 'string', pattern: `^a{${i}}b*c{8000}$` },
  ]);
  return confined({ type: 'object', properties, required: Object.keys(properties) });
}

function patternProperties(count: number): object {
  const patterns = members(count, (i) => [`^x{${i}}y{2000}`, { type: 'integer' }] as const);
  return confined({ type: 'object', patternProperties: patterns, minProperties: 20 });
}

function oneOf(count: number): object {
  return confined({
    oneOf: list(count, (i) => ({ type: 'object', required: [`key-${i}-of-it`] })),
  });
}

function nestedAllOf(depth: number, width: number): object {
  let schema: object = { type: 'object' };
  for (let level = 0; level < depth; level++) {
    const others = list(width, (i) => ({ not: { required: [`n${level}-${i}`] } }));
    schema = { allOf: [schema, ...others] };
  }
  return confined(schema);
}

/** Every definition refers to every other one. */
function web(count: number): object {
  const refs = list(count, (i) => ({ $ref: `#/$defs/d${i}` }));
  const $defs = members(count, (i) => [`d${i}`, { anyOf: [...refs, { minimum: i }] }] as const);
  return confined({ $defs, allOf: refs });
}

const lark = (count: number): string =>
  [
    `start: ${list(count, (i) => `r${i}`).join(' ')}`,
    ...list(count, (i) => `r${i}: /[a-z]{${i},2000}b{${i}}c*/ | r${(i + 1) % count} "x"`),
  ].join('\n');

const gbnf = (count: number): string =>
  [
    `root ::= ${list(count, (i) => `r${i}`).join(' ')}`,
    ...list(count, (i) => `r${i} ::= ([a-z]{0,900} "b" | [0-9]{900}){1,9} | r${(i + 1) % count}`),
  ].join('\n');

function chat(messages: readonly object[], rest: object = {}): object {
  return { messages, max_tokens: 4, ...rest };
}

const message = (content: unknown): object => ({ role: 'user', content });

const SCHEMAS: readonly Attack[] = [
  ...[100, 600, 1_100].map((count) => ({
    title: `a schema with ${count} large patterns`,
    path: CHAT,
    body: () => patterned(count),
    statuses: EITHER,
  })),
  ...[500, 2_000].map((count) => ({
    title: `a schema with ${count} patternProperties`,
    path: CHAT,
    body: () => patternProperties(count),
    statuses: EITHER,
  })),
  {
    title: 'a oneOf of 10,000 objects',
    path: CHAT,
    body: () => oneOf(10_000),
    statuses: EITHER,
  },
  {
    title: 'an allOf that is 60 levels deep and 100 wide',
    path: CHAT,
    body: () => nestedAllOf(60, 100),
    statuses: EITHER,
  },
  {
    title: 'a web of 150 references to each other',
    path: CHAT,
    body: () => web(150),
    statuses: EITHER,
  },
  {
    title: 'a small schema that ten clients send at once',
    path: CHAT,
    body: () => patterned(100),
    times: 10,
    statuses: EITHER,
  },
  {
    title: '128 tools with a large pattern each',
    path: CHAT,
    body: () =>
      chat(MESSAGES, {
        tools: list(128, (i) => {
          const property = { type: 'string', pattern: `^a{${i}}b*c{5000}$` };
          const parameters = { type: 'object', properties: { p: property }, required: ['p'] };
          return { type: 'function', function: { name: `f${i}`, parameters } };
        }),
      }),
    statuses: EITHER,
  },
];

const PATTERNS: readonly Attack[] = [
  {
    title: 'a pattern of nested repetitions',
    path: CHAT,
    body: () => structured({ regex: '((a{0,40}b?){0,40}c*){5}d{900}' }),
    statuses: EITHER,
  },
  {
    title: 'a choice of 100,000 texts',
    path: CHAT,
    body: () => structured({ choice: list(100_000, (i) => `choice number ${i}`) }),
    statuses: EITHER,
  },
  {
    title: 'a Lark grammar of 200 large patterns',
    path: CHAT,
    body: () => structured({ grammar: lark(200) }),
    statuses: EITHER,
  },
  {
    title: 'a GBNF grammar of 200 repetitions',
    path: CHAT,
    body: () => structured({ grammar: gbnf(200) }),
    statuses: EITHER,
  },
];

const PROMPTS: readonly Attack[] = [
  {
    title: '100,000 messages',
    path: CHAT,
    body: () => chat(list(100_000, () => message('Hello.'))),
    statuses: [400],
  },
  {
    title: '400,000 messages',
    path: CHAT,
    body: () => chat(list(400_000, () => message('Hello.'))),
    statuses: [400],
  },
  {
    title: '20,000 messages in turn',
    path: CHAT,
    body: () =>
      chat(list(20_000, (i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'Hi.' }))),
    statuses: EITHER,
  },
  {
    title: '50,000 messages to the endpoint for messages',
    path: '/v1/messages',
    body: () => chat(list(50_000, () => message('Hello.'))),
    statuses: EITHER,
  },
  {
    title: '50,000 parts of one message',
    path: CHAT,
    body: () => chat([message(list(50_000, () => ({ type: 'text', text: 'Hi.' })))]),
    statuses: EITHER,
  },
  {
    title: '20,000 pictures in one message',
    path: CHAT,
    body: () =>
      chat([
        message(
          list(20_000, () => ({
            type: 'image_url',
            image_url: { url: 'data:image/png;base64,AA' },
          })),
        ),
      ]),
    statuses: EITHER,
  },
  ...['a', ' ', '!'].map((character) => ({
    title: `16 prompts at once of 31,000 times '${character}', read on the event loop if short`,
    path: '/v1/completions',
    body: () => ({ prompt: character.repeat(31_000), max_tokens: 1 }),
    times: 16,
    statuses: [200],
  })),
  {
    title: '16 prompts at once of 1,800 unknown words',
    path: '/v1/completions',
    body: () => ({
      prompt: list(1_800, (i) => `q${(i * 7_919).toString(36)}z`).join(' '),
      max_tokens: 1,
    }),
    times: 16,
    statuses: [200],
  },
  {
    title: 'a word of 800,000 characters',
    path: TEXT,
    body: () => ({ prompt: 'ab'.repeat(400_000), max_tokens: 4 }),
    statuses: EITHER,
  },
  {
    title: 'a million characters that are slow to normalise',
    path: TEXT,
    body: () => ({ prompt: '\ufdfa\u0344'.repeat(500_000), max_tokens: 4 }),
    statuses: EITHER,
  },
  {
    title: '1,024 prompts with 16 choices each',
    path: TEXT,
    body: () => ({ prompt: list(1_024, (i) => `Prompt ${i}.`), n: 16, max_tokens: 2 }),
    statuses: [200, 400, 429, 503],
  },
  {
    title: '16 prompts of 50,000 tokens each',
    path: TEXT,
    body: () => ({ prompt: list(16, () => list(50_000, () => 1_000)), max_tokens: 1 }),
    statuses: [400],
  },
  {
    title: 'a million brackets',
    path: CHAT,
    body: () => `{"messages":${'['.repeat(1_000_000)}`,
    statuses: [400],
  },
  {
    title: 'four million empty objects',
    path: CHAT,
    body: () => `{"messages":[${'{},'.repeat(4_000_000)}{}]}`,
    statuses: [400],
  },
  {
    title: 'ten times as many empty tools as a short body has room for',
    path: CHAT,
    body: () => ({ messages: MESSAGES, tools: list(10_000, () => ({})) }),
    times: 10,
    statuses: [400, 503],
  },
  {
    title: 'as many numbers as a short body has room for',
    path: CHAT,
    body: () => ({ messages: MESSAGES, allowed_token_ids: list(16_000, () => 1) }),
    statuses: [200],
  },
  {
    title: 'a chat of 1,000 conversations',
    path: '/v1/chat/completions/batch',
    body: () => ({ messages: list(1_000, () => MESSAGES), max_tokens: 2 }),
    statuses: [200, 400, 429, 503],
  },
];

const ANSWERS: readonly Attack[] = [
  {
    title: 'log-probabilities of 100,000 prompt tokens',
    path: TEXT,
    body: () => ({
      prompt: list(100_000, (i) => 1_000 + (i % 5_000)),
      prompt_logprobs: 20,
      max_tokens: 1,
    }),
    statuses: EITHER,
  },
  {
    title: 'log-probabilities of 64 choices',
    path: CHAT,
    body: () =>
      chat(MESSAGES, {
        n: 64,
        max_tokens: 100,
        ignore_eos: true,
        logprobs: true,
        top_logprobs: 20,
      }),
    statuses: [200, 400, 429, 503],
  },
  {
    title: '16,000 stop strings',
    path: CHAT,
    body: () => chat(MESSAGES, { stop: list(16_000, (i) => `stop ${i}`), max_tokens: 100 }),
    statuses: EITHER,
  },
  {
    title: '100,000 biases',
    path: CHAT,
    body: () => chat(MESSAGES, { logit_bias: members(100_000, (i) => [String(i), 1] as const) }),
    statuses: EITHER,
  },
  {
    title: '2,048 texts to embed',
    path: '/v1/embeddings',
    body: () => ({ input: list(2_048, (i) => `Text number ${i}.`) }),
    statuses: [200, 400, 429, 503],
  },
  {
    title: '2,000 documents to rank',
    path: '/rerank',
    body: () => ({ query: 'batons', documents: list(2_000, (i) => `Document ${i}.`) }),
    statuses: [200, 400, 429, 503],
  },
  {
    title: '2,000 pairs of texts to compare',
    path: '/score',
    body: () => {
      const texts = list(2_000, (i) => `Text ${i}.`);
      return { text_1: texts, text_2: texts };
    },
    statuses: [200, 400, 429, 503],
  },
  {
    title: 'a stream of the log-probabilities of 50,000 prompt tokens',
    path: TEXT,
    body: () => ({ prompt: list(50_000, () => 1_000), echo: true, logprobs: 20, stream: true }),
    statuses: [400],
  },
];

/** A body that a thread reads, and an answer that a thread writes. */
const STORED = {
  path: CHAT,
  body: () =>
    chat(
      list(40, () => message('Relay. '.repeat(1_000))),
      {
        store: true,
        metadata: { kind: 'long' },
        ignore_eos: true,
        max_tokens: 400,
        n: 4,
        logprobs: true,
        top_logprobs: 20,
      },
    ),
};

const STORED_CHATS: readonly Attack[] = [
  { title: 'a chat to store whose answer is long', ...STORED, statuses: EITHER },
  ...['', '/{id}', '/{id}/messages'].map((rest) => ({
    title: `a GET of ${CHAT}${rest} after it`,
    first: STORED,
    path: `${CHAT}${rest}`,
    body: () => ({}),
    method: 'GET' as const,
    times: 10,
    statuses: [200],
  })),
];

const OTHERS: readonly Attack[] = [
  {
    title: 'ten megabytes to tokenise',
    path: '/tokenize',
    body: () => ({ prompt: 'Ten megabytes. '.repeat(700_000) }),
    statuses: EITHER,
  },
  {
    title: 'a million tokens to spell',
    path: '/detokenize',
    body: () => ({ tokens: list(1_000_000, (i) => 1_000 + (i % 5_000)) }),
    statuses: EITHER,
  },
  {
    title: '100,000 messages to count',
    path: '/v1/messages/count_tokens',
    body: () => ({ messages: list(100_000, () => message('Hello.')) }),
    statuses: EITHER,
  },
  {
    title: '50,000 messages to render',
    path: '/v1/chat/completions/render',
    body: () => chat(list(50_000, () => message('Hello.'))),
    statuses: EITHER,
  },
];

export const ATTACKS: readonly Attack[] = [
  ...RESPONSE_ROWS,
  ...SCHEMAS,
  ...PATTERNS,
  ...PROMPTS,
  ...ANSWERS,
  ...STORED_CHATS,
  ...OTHERS,
  ...CONNECTION_ROWS,
];
