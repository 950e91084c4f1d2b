import type { Dialect, Endpoint } from '@baton/openai';
import { asResponseBody } from './response-body';
import type { Observed } from './observed';

/** The endpoints that generate text. */
export type TextEndpoint = Endpoint | 'responses';

/** The place where a rule is checked. */
export interface Path {
  readonly endpoint: TextEndpoint;
  readonly dialect: Dialect;
  readonly isStreamed: boolean;
}

/** A property that holds at every endpoint that supports it. */
export interface Rule {
  readonly name: string;
  /** Default: all. */
  readonly endpoints?: readonly TextEndpoint[];
  /** Default: both; some answers cannot be streamed. */
  readonly modes?: readonly ('streamed' | 'whole')[];
  /** Fields of the request besides the prompt; for a response those of a chat. */
  readonly body: object | ((endpoint: TextEndpoint) => object);
  /** `plain` is the answer to the same prompt without the fields. */
  readonly check: (seen: Observed, path: Path, plain: Observed) => void;
}

export const PROMPT = 'Tell me how runners hand over a baton.';

/** A request with everything that a plain one needs. */
export function requestBody(rule: Pick<Rule, 'body'>, { endpoint, isStreamed }: Path): object {
  const own = typeof rule.body === 'function' ? rule.body(endpoint) : rule.body;
  const prompt =
    endpoint === 'completions'
      ? { prompt: PROMPT }
      : { messages: [{ role: 'user', content: PROMPT }] };
  const stream = isStreamed ? { stream: true, stream_options: { include_usage: true } } : {};
  const quiet = endpoint === 'completions' ? {} : { reasoning_effort: 'none' };
  const body = { ...prompt, ...quiet, max_tokens: 40, ignore_eos: true, ...stream, ...own };
  return endpoint === 'responses' ? asResponseBody(body) : body;
}
