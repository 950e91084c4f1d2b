import { type Attack, EITHER, list, members } from './attack';

const RESPONSES = '/v1/responses';
const CONVERSATIONS = '/v1/conversations';
const said = (text: string): object => ({ role: 'user', content: text });
/** The maximum that one request may add, in 4 MB. */
const LONG_ITEMS = (): object[] => list(20, () => said('Relay. '.repeat(30_000)));

/** Eight megabytes of alternatives. */
const SCORED = {
  input: 'x',
  max_output_tokens: 4_000,
  ignore_eos: true,
  top_logprobs: 20,
  include: ['message.output_text.logprobs'],
};

const schemaOf = (count: number): object => {
  const properties = members(count, (i) => [
    `p${i}`,
    { type: 'string', pattern: `^a{${i}}b*c{8000}$` },
  ]);
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  return { format: { type: 'json_schema', name: 'attack', schema } };
};

export const RESPONSE_ROWS: readonly Attack[] = [
  {
    title: 'a response with 100 large patterns',
    path: RESPONSES,
    body: () => ({ input: 'x', text: schemaOf(100) }),
    statuses: EITHER,
  },
  {
    title: 'a response in the background with 600 large patterns',
    path: RESPONSES,
    body: () => ({ input: 'x', background: true, text: schemaOf(600) }),
    statuses: EITHER,
  },
  {
    title: 'a response to 50,000 items',
    path: RESPONSES,
    body: () => ({ input: list(50_000, () => said('Hello.')), stream: true }),
    statuses: EITHER,
  },
  {
    title: 'a response to 50,000 outputs of calls',
    path: RESPONSES,
    body: () => ({
      input: list(50_000, (i) => ({
        type: i % 2 === 0 ? 'function_call' : 'function_call_output',
        call_id: `c${i >> 1}`,
        name: 'f',
        arguments: '{}',
        output: 'x',
      })),
    }),
    statuses: EITHER,
  },
  {
    title: 'a response to 20,000 references',
    path: RESPONSES,
    body: () => ({ input: list(20_000, (i) => ({ type: 'item_reference', id: `msg_${i}` })) }),
    statuses: [400],
  },
  ...[
    { title: 'a response of which each token has 20 alternatives', how: {} },
    { title: 'a stream of which each token has 20 alternatives', how: { stream: true } },
  ].map(({ title, how }) => ({
    title,
    path: RESPONSES,
    body: () => ({ ...how, ...SCORED }),
    statuses: EITHER,
  })),
  {
    title: 'a response with 128 tools with a large pattern each',
    path: RESPONSES,
    body: () => ({
      input: 'x',
      tools: list(128, (i) => {
        const property = { type: 'string', pattern: `^a{${i}}b*c{5000}$` };
        const parameters = { type: 'object', properties: { p: property }, required: ['p'] };
        return { type: 'function', name: `f${i}`, parameters };
      }),
    }),
    statuses: EITHER,
  },
  {
    title: '50,000 items of a response to count',
    path: `${RESPONSES}/input_tokens`,
    body: () => ({ input: list(50_000, () => said('Hello.')) }),
    statuses: EITHER,
  },
  {
    title: '20,000 items to shorten',
    path: `${RESPONSES}/compact`,
    body: () => ({ model: 'baton', input: list(20_000, () => said('Hello.')) }),
    statuses: [...EITHER, 404],
  },
  {
    title: 'a conversation of four megabytes',
    path: CONVERSATIONS,
    body: () => ({ items: LONG_ITEMS() }),
    statuses: EITHER,
  },
  {
    title: 'a response that continues four megabytes',
    first: { path: CONVERSATIONS, body: () => ({ items: LONG_ITEMS() }) },
    path: RESPONSES,
    body: () => ({ input: 'x', conversation: '{id}', truncation: 'auto' }),
    statuses: EITHER,
  },
  {
    title: 'the items of a conversation of four megabytes',
    first: { path: CONVERSATIONS, body: () => ({ items: LONG_ITEMS() }) },
    path: `${CONVERSATIONS}/{id}/items?limit=100`,
    body: () => ({}),
    method: 'GET',
    statuses: [200],
  },
  {
    title: 'items for a conversation of four megabytes',
    first: { path: CONVERSATIONS, body: () => ({ items: LONG_ITEMS() }) },
    path: `${CONVERSATIONS}/{id}/items`,
    body: () => ({ items: list(20, () => said('More.')) }),
    times: 10,
    statuses: [200],
  },
  {
    title: 'a response that goes on with the 10,000 items of its chain',
    first: {
      path: RESPONSES,
      body: () => ({ input: list(10_000, () => said('Go.')), truncation: 'auto' }),
    },
    path: RESPONSES,
    body: () => ({ input: 'x', previous_response_id: '{id}', truncation: 'auto' }),
    times: 10,
    statuses: EITHER,
  },
  {
    title: 'a stream that repeats fifteen megabytes of its request',
    path: RESPONSES,
    body: () => ({ input: 'x', stream: true, instructions: 'Relay. '.repeat(2_000_000) }),
    statuses: [400],
  },
  {
    title: 'a stream that repeats a megabyte of its request',
    path: RESPONSES,
    body: () => ({
      input: 'x',
      stream: true,
      max_output_tokens: 16,
      tools: list(100, (i) => ({
        type: 'function',
        name: `f${i}`,
        parameters: { type: 'object' },
        description: '\u00e9'.repeat(10_000),
      })),
    }),
    statuses: EITHER,
  },
  {
    title: 'messages of four megabytes over a WebSocket',
    path: RESPONSES,
    way: 'socket',
    body: () => ({ type: 'response.create', input: list(40_000, () => said('Hello.')) }),
    times: 4,
    statuses: EITHER,
  },
  {
    title: 'messages with large patterns over a WebSocket',
    path: RESPONSES,
    way: 'socket',
    body: () => ({ type: 'response.create', input: 'x', text: schemaOf(100) }),
    times: 4,
    statuses: EITHER,
  },
  {
    title: '100,000 messages over a WebSocket',
    path: RESPONSES,
    way: 'socket',
    body: () => ({ type: 'response.create', input: 'x', max_output_tokens: 16 }),
    times: 100_000,
    statuses: [...EITHER, 429],
  },
];
