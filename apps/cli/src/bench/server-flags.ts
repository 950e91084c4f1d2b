import { isObject } from '@baton/kernel';
import { UsageError } from '@baton/config';
import { ENDPOINTS, type Protocol, type ServerAccess } from '@baton/loadgen';
import type { FlagValues } from '@baton/replay';
import type { BenchFlag } from './bench-options';
import { pairOf } from './name-value';

const PORT = 8000;
const MOST_PORT = 65_535;

/** Supported backends of `vllm bench serve`, and Baton's own. */
const BACKENDS: Readonly<Record<string, Protocol>> = {
  openai: 'openai',
  vllm: 'openai',
  'openai-chat': 'openai-chat',
  'vllm-chat': 'openai-chat',
  responses: 'responses',
  'openai-responses': 'responses',
};

/** @throws UsageError, one sentence */
export function readServerFlags(
  values: FlagValues<BenchFlag>,
  headers: readonly string[],
): ServerAccess {
  const backend = values.choice('backend', Object.keys(BACKENDS)) ?? 'openai';
  const protocol = BACKENDS[backend] ?? 'openai';
  const endpoint = values.text('endpoint') ?? ENDPOINTS[protocol];
  if (!endpoint.startsWith('/')) throw values.wrongValue('endpoint', 'a path that begins with /');
  return {
    ...baseOf(values),
    backend,
    protocol,
    endpoint,
    model: values.text('model'),
    headers: readHeaders(values, headers),
    extraBody: parseExtraBody(values),
    readyTimeoutMs: (values.number('readyCheckTimeoutSec', SECONDS) ?? 0) * 1_000,
  };
}

const SECONDS = { from: 0, to: 1e6, expected: 'a number of seconds from 0 to 1000000' };

function baseOf(values: FlagValues<BenchFlag>): { origin: string; prefix: string } {
  const port = values.count('port', 1, MOST_PORT) ?? PORT;
  const given = values.text('baseUrl');
  if (given !== undefined && (values.has('host') || values.has('port'))) {
    throw new UsageError('--base-url and --host or --port set the same server. Remove one.');
  }
  const text = given ?? `http://${values.text('host') ?? '127.0.0.1'}:${port}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `--base-url must be an http or https URL such as http://127.0.0.1:8000; '${text}' is not.`,
    );
  }
  // A base URL of an SDK ends with the version; here the version is part of the endpoint.
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '') };
}

function readHeaders(
  values: FlagValues<BenchFlag>,
  given: readonly string[],
): Readonly<Record<string, string>> {
  const apiKey = values.text('apiKey') ?? process.env['OPENAI_API_KEY'];
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (apiKey !== undefined && apiKey !== '') headers['authorization'] = `Bearer ${apiKey}`;
  for (const entry of given) {
    const [name, value] = pairOf('header', entry);
    headers[name.toLowerCase()] = value;
  }
  try {
    new Headers(headers);
  } catch {
    throw new UsageError('--header or --api-key contains an invalid character for an HTTP header.');
  }
  return headers;
}

function parseExtraBody(values: FlagValues<BenchFlag>): Readonly<Record<string, unknown>> {
  const text = values.text('extraBody');
  if (text === undefined) return {};
  const expected = 'a JSON object such as {"temperature": 0}';
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {
    throw values.wrongValue('extraBody', expected);
  }
  throw values.wrongValue('extraBody', expected);
}
