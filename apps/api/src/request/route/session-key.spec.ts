import { hashString } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import type { Call } from '../take/call';
import { sessionKeyOf } from './session-key';

const keyOf = (body: unknown, headers: Record<string, string> = {}) =>
  sessionKeyOf({ body, response: { req: { headers } } as unknown as Call['response'] });

describe('the session of a request', () => {
  it.each([
    ['x-session-id', {}, { 'x-session-id': 's' }],
    ['session_id', { session_id: 's' }, {}],
    ['prompt_cache_key', { prompt_cache_key: 's' }, {}],
    ['x-user', {}, { 'x-user': 's' }],
    ['user', { user: 's' }, {}],
    ['x-session-id before all others', { session_id: 'a', user: 'b' }, { 'x-session-id': 's' }],
    ['the session before the cache key', { session_id: 's', prompt_cache_key: 'a' }, {}],
    ['the cache key before the user', { prompt_cache_key: 's', user: 'a' }, { 'x-user': 'b' }],
  ])('is named by %s', (_, body, headers) => {
    expect(keyOf(body, headers as Record<string, string>)).toBe(hashString('s'));
  });

  it.each([[{}], [null], ['text'], [{ user: '' }], [{ user: 7 }], [{ session_id: null }]])(
    'is unknown for %j',
    (body) => {
      expect(keyOf(body)).toBeUndefined();
    },
  );
});
