import { BatonError } from '@baton/contract';
import { RequestError } from '@baton/openai';
import type { PlainRefusal } from './messages';

/** An error of the catalogue as plain data, because objects lose their class between threads. */
export function plainRefusal(error: BatonError): PlainRefusal {
  const { code, message, param, retryAfterSeconds } = error;
  const given = error instanceof RequestError ? error : undefined;
  const { vllmParam, openaiCode } = given ?? {};
  return { code, message, param, retryAfterSeconds, vllmParam, openaiCode };
}

export function refusalFrom(plain: PlainRefusal): BatonError {
  const { code, message, param, retryAfterSeconds, vllmParam, openaiCode } = plain;
  return vllmParam === undefined
    ? new BatonError(code, message, param, retryAfterSeconds)
    : new RequestError(code, { message, param, code: openaiCode, vllmParam });
}
