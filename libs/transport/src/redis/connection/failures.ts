import { TransportOutOfMemory, TransportUnavailable } from '../../port/failures';

/** Replies of a running server that cannot serve now. */
const REFUSALS =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)\b/;
/** A key of another program; the link looks for it (`findForeign`). */
const WRONG_TYPE = 'WRONGTYPE';
const CONNECTION_NAMES = ['MaxRetriesPerRequestError', 'AbortError', 'ClusterAllFailedError'];
const CONNECTION_MESSAGES = new RegExp(
  [
    'Connection is closed',
    "isn't writeable",
    'Socket timeout',
    'timed out',
    'E(CONN|PIPE|NOENT|NOTFOUND)',
    'Failed to refresh slots',
    'Ready check failed',
  ].join('|'),
);

/**
 * Turns errors of ioredis and BullMQ into the two failures of the port; programming errors pass
 * unchanged.
 */
export function asTransportFailure(error: unknown, what: string): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message.includes('OOM command not allowed')) return new TransportOutOfMemory();
  if (error.message.includes(WRONG_TYPE)) return new TransportUnavailable(`${what}: ${WRONG_TYPE}`);
  const isOfConnection =
    error.name === 'ReplyError'
      ? REFUSALS.test(error.message)
      : CONNECTION_NAMES.includes(error.name) || CONNECTION_MESSAGES.test(error.message);
  return isOfConnection ? new TransportUnavailable(`${what}: ${error.message}`) : error;
}

/** BullMQ's negative codes for a job that is gone, not active, or locked by another worker. */
export function isLockFailure(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code < 0
  );
}
