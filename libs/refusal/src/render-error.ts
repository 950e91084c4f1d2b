import { type BatonError, ERRORS, INJECTED } from '@baton/contract';
import { asciiJson } from '@baton/text';
import type { Dialect } from './dialect';
import { type ErrorText, RequestError } from './request-error';

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
  /** vLLM repeats the status, OpenAI has a name or null. */
  readonly code: number | string | null;
}

const UNAUTHORIZED = 401;

/** Any failure of the catalogue as an HTTP answer of the dialect. */
export function renderError(error: BatonError, dialect: Dialect): RenderedError {
  const { status } = error.entry;
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)));
  }
  if (status === UNAUTHORIZED) headers['www-authenticate'] = 'Bearer';
  return { status, headers, body: bodyOf(error, dialect) };
}

/**
 * A failure after the first byte of a stream: one event. The stream's end, `[DONE]`, is the
 * caller's.
 */
export function renderStreamError(error: BatonError, dialect: Dialect): string {
  const body = { error: errorBody(error, dialect) };
  return `data: ${dialect === 'vllm' ? spacedJson(body.error) : asciiJson(body)}\n\n`;
}

function bodyOf(error: BatonError, dialect: Dialect): string {
  const isRouting = error.code === 'not_found' || error.code === 'method_not_allowed';
  if (isRouting && dialect === 'vllm') return asciiJson({ detail: ERRORS[error.code].message });
  // A refusal that was injected has the body of llm-d-inference-sim.
  const isRefused = error.entry.status === UNAUTHORIZED && error.code !== INJECTED;
  const isRefusedByKey = isRefused && dialect === 'vllm';
  return asciiJson({ error: isRefusedByKey ? error.entry.vllmType : errorBody(error, dialect) });
}

function errorBody(error: BatonError, dialect: Dialect): ErrorBody {
  const { status, vllmType, openaiType, openaiCode } = error.entry;
  if (dialect === 'openai') {
    const own = error instanceof RequestError ? error.openaiCode : undefined;
    return {
      ...{ message: error.message, type: openaiType, param: error.param },
      code: own ?? openaiCode,
    };
  }
  const { message, param } = error instanceof RequestError ? error.vllm : foreignText(error);
  return { message, type: vllmType, param, code: status };
}

/** Failures that vLLM's schema would have found keep its preamble, wherever they come from. */
function foreignText(error: BatonError): ErrorText {
  const { message, param } = error;
  const isSchema = error.entry.vllmType === 'Bad Request';
  return { message: isSchema ? `1 validation error:\n  ${message}` : message, param };
}

/** `json.dumps` with Python's default spacing: vLLM writes in-stream errors so. */
function spacedJson(body: ErrorBody): string {
  const fields = Object.entries(body).map(([key, value]) => `"${key}": ${asciiJson(value)}`);
  return `{"error": {${fields.join(', ')}}}`;
}
