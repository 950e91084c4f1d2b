import { type BatonError, ERRORS, INJECTED } from '@baton/contract';
import { asciiJson } from '@baton/text';
import type { Dialect } from './dialect';
import { RequestError } from './request-error';

/** An HTTP error answer. `body` is ASCII. */
export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  /** The status in vLLM; a code or null in OpenAI. */
  readonly code: number | string | null;
}

const UNAUTHORIZED = 401;

/** A failure of the catalogue as an HTTP answer of the dialect. */
export function renderError(error: BatonError, dialect: Dialect): RenderedError {
  const { status, retryAfterSeconds: usual } = error.entry;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const seconds = error.retryAfterSeconds ?? usual;
  if (seconds !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(seconds)));
  if (status === UNAUTHORIZED) headers['www-authenticate'] = 'Bearer';
  return { status, headers, body: bodyOf(error, dialect) };
}

/**
 * A failure after the first byte of a stream, as one event. The caller ends the stream with
 * `[DONE]`.
 */
export function renderStreamError(error: BatonError, dialect: Dialect): string {
  const body = { error: errorBody(error, dialect) };
  return `data: ${dialect === 'vllm' ? spacedJson(body.error) : asciiJson(body)}\n\n`;
}

function bodyOf(error: BatonError, dialect: Dialect): string {
  const isRouting = error.code === 'not_found' || error.code === 'method_not_allowed';
  if (isRouting && dialect === 'vllm') return asciiJson({ detail: ERRORS[error.code].message });
  // An injected refusal has the body of llm-d-inference-sim.
  const isRefused = error.entry.status === UNAUTHORIZED && error.code !== INJECTED;
  const isRefusedByKey = isRefused && dialect === 'vllm';
  return asciiJson({ error: isRefusedByKey ? error.entry.vllmType : errorBody(error, dialect) });
}

function errorBody(error: BatonError, dialect: Dialect): ErrorBody {
  const { status, vllmType, openaiType, openaiCode } = error.entry;
  if (dialect === 'openai') {
    const own = error instanceof RequestError ? error.openaiCode : undefined;
    return {
      message: error.message,
      type: openaiType,
      param: error.param,
      code: own ?? openaiCode,
    };
  }
  const param = error instanceof RequestError ? error.vllmParam : error.param;
  return { message: error.message, type: vllmType, param, code: status };
}

/** `json.dumps` with Python's default spacing, which vLLM uses for errors in streams. */
function spacedJson(body: ErrorBody): string {
  const fields = Object.entries(body).map(([key, value]) => `"${key}": ${asciiJson(value)}`);
  return `{"error": {${fields.join(', ')}}}`;
}
