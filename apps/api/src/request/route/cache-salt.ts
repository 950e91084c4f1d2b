import { hashString, mix } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';

/** Separates the prefixes of requests that must not share KV. */
export function cacheSalt({ model, cacheSalt: own }: GenerationRequest): number {
  return mix(hashString(model), hashString(own ?? ''));
}
