import { BatonError } from '@baton/contract';
import type { Log } from '../../tokens';
import { TaskRefused } from './thread-pool';

/** Wait that a client is asked for when too many requests wait for a thread, s. */
const RETRY_AFTER_S = 10;

/** The client's error for a task that has no result. A crash of its thread is logged. */
export function threadFailure(error: unknown, logger: Log): BatonError {
  if (error instanceof BatonError) return error;
  if (error instanceof TaskRefused) return refused(error);
  logger.error({ err: error }, 'a thread failed; its request ends');
  return new BatonError('engine_error');
}

function refused({ reason }: TaskRefused): BatonError {
  switch (reason) {
    case 'busy':
      return new BatonError('threads_busy', undefined, null, RETRY_AFTER_S);
    case 'too-complex':
      return new BatonError('request_too_complex');
    case 'left':
      // The connection is closed, so no client reads the error.
      return new BatonError('slow_reader');
  }
}
