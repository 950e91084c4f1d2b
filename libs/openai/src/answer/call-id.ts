import { hashString, mix } from '@baton/kernel';
import type { Dialect } from '../refusal/dialect';

/** The id of a call: equal in all chunks and on every path, and different for every call. */
export function callId(
  dialect: Dialect,
  answerId: string,
  place: { readonly choice: number; readonly call: number },
): string {
  const base = mix(mix(hashString(answerId), place.choice), place.call);
  const digits = [1, 2, 3]
    .map((part) => mix(base, part).toString(16).padStart(14, '0').slice(-12))
    .join('');
  return dialect === 'vllm'
    ? `chatcmpl-tool-${digits.slice(0, 32)}`
    : `call_${digits.slice(0, 24)}`;
}
