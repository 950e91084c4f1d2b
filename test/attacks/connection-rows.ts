import { type Attack, EITHER } from './attack';

const TEXT = '/v1/completions';
const MODELS = '/v1/models';
const MIB = 1024 * 1024;

function head(method: string, path: string, ...headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n');
}

const LAST = head('GET', MODELS, 'connection: close');

/** Requests behind one that is not answered; the last closes the connection. */
function pipelined(count: number): string {
  return head('GET', MODELS).repeat(count - 1) + LAST;
}

/** A stream whose text is planned before its first token, and takes minutes to send. */
function longText(): string {
  const schema = { type: 'string', minLength: 100_000 };
  const response_format = { type: 'json_schema', json_schema: { name: 'long', schema } };
  const messages = [{ role: 'user', content: 'Hello.' }];
  const body = JSON.stringify({ messages, response_format, stream: true });
  const length = `content-length: ${body.length}`;
  return head('POST', '/v1/chat/completions', 'content-type: application/json', length) + body;
}

/** A body that is short when it is sent. */
function padded(bytes: number): string {
  return `{"prompt":"x","max_tokens":1${' '.repeat(bytes)}}`;
}

/** What needs bytes over connections of its own. */
export const CONNECTION_ROWS: readonly Attack[] = [
  {
    title: 'two million pieces of one byte',
    path: TEXT,
    body: () =>
      head('POST', TEXT, 'content-type: application/json', 'transfer-encoding: chunked') +
      '1\r\n \r\n'.repeat(2_000_000),
    way: 'wire',
    statuses: [0],
  },
  {
    title: '3,000 connections at once',
    path: MODELS,
    body: () => LAST,
    way: 'wire',
    times: 3_000,
    statuses: [200],
  },
  {
    title: '20,000 requests behind each other',
    path: MODELS,
    body: () => pipelined(20_000),
    way: 'wire',
    statuses: [0, 200],
  },
  {
    title: '300 connections with 60 requests behind each other',
    path: MODELS,
    body: () => pipelined(60),
    way: 'wire',
    times: 300,
    statuses: [200],
  },
  {
    title: '300 connections with 60 requests behind each other that leave',
    path: MODELS,
    body: () => pipelined(60),
    way: 'glance',
    times: 300,
    statuses: [200],
  },
  {
    title: '20,000 requests without a host',
    path: MODELS,
    body: () => 'GET / HTTP/1.1\r\n\r\n'.repeat(20_000),
    way: 'wire',
    statuses: [0, 400],
  },
  {
    title: '20,000 requests that expect what is unknown',
    path: MODELS,
    body: () =>
      head('GET', '/', 'expect: x').repeat(19_999) +
      head('GET', '/', 'expect: x', 'connection: close'),
    way: 'wire',
    statuses: [0, 417],
  },
  {
    title: '20 bodies at once that decode to more than one may have',
    path: TEXT,
    body: () => padded(17 * MIB),
    isZipped: true,
    times: 20,
    statuses: [413],
  },
  {
    title: '20 bodies at once that decode to what one may have',
    path: TEXT,
    body: () => padded(15 * MIB),
    isZipped: true,
    times: 20,
    statuses: EITHER,
  },
  {
    title: 'a text of 100,000 characters at least',
    path: TEXT,
    body: longText,
    way: 'glance',
    statuses: EITHER,
  },
  {
    title: '400 viewers of the live page that leave',
    path: '/ui/stream',
    body: () => head('GET', '/ui/stream'),
    way: 'glance',
    times: 400,
    statuses: [200, 503],
  },
];
