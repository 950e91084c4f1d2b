import { BatonError } from '@baton/contract';
import type { Log } from '../../tokens';
import { expect, it } from 'vitest';
import { threadFailure } from './thread-failure';
import { TaskRefused } from './thread-pool';

function failureOf(error: unknown): { readonly code: string; readonly logged: unknown[] } {
  const logged: unknown[] = [];
  const log = { error: ({ err }: { readonly err: unknown }) => logged.push(err) };
  return { code: threadFailure(error, log as unknown as Log).code, logged };
}

it('logs a crash of a thread, which the client hears as engine_error', () => {
  const crash = new Error('the thread has ended');
  expect(failureOf(crash)).toEqual({ code: 'engine_error', logged: [crash] });
});

it('gives a refusal its own error, and logs nothing', () => {
  expect(failureOf(new TaskRefused('busy'))).toEqual({ code: 'threads_busy', logged: [] });
  expect(failureOf(new BatonError('request_too_complex'))).toEqual({
    code: 'request_too_complex',
    logged: [],
  });
});
