import { describe, expect, it } from 'vitest';
import { TransportOutOfMemory, TransportUnavailable } from '../../port/failures';
import { asTransportFailure, isLockFailure } from './failures';

function failure(name: string, message: string): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

describe('asTransportFailure', () => {
  it.each([
    "OOM command not allowed when used memory > 'maxmemory'. script: 0f, on @user_script:9.",
    "ERR Error running script: -OOM command not allowed when used memory > 'maxmemory'.",
  ])('takes "%s" for a full memory', (message) => {
    expect(asTransportFailure(failure('ReplyError', message), 'x')).toBeInstanceOf(
      TransportOutOfMemory,
    );
  });

  it.each([
    ['ReplyError', 'LOADING Redis is loading the dataset in memory'],
    ['ReplyError', "READONLY You can't write against a read only replica."],
    ['ReplyError', 'CLUSTERDOWN The cluster is down'],
    ['ReplyError', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
    ['ReplyError', 'ERR Error running script (f_0f): @user_script:3: WRONGTYPE Operation'],
    ['MaxRetriesPerRequestError', 'Reached the max retries per request limit'],
    ['Error', 'Connection is closed.'],
    ['Error', 'connect ECONNREFUSED 127.0.0.1:6379'],
  ])('takes a %s "%s" for a lost broker', (name, message) => {
    const error = asTransportFailure(failure(name, message), 'add jobs');
    expect(error).toBeInstanceOf(TransportUnavailable);
    expect((error as Error).message).toContain('add jobs');
  });

  it.each([
    ['ReplyError', 'ERR Error compiling script'],
    ['TypeError', 'x is not a function'],
  ])('leaves a mistake of ours (%s) as it is', (name, message) => {
    const error = failure(name, message);
    expect(asTransportFailure(error, 'x')).toBe(error);
  });
});

describe('isLockFailure', () => {
  it('recognizes BullMQ’s negative codes', () => {
    expect(isLockFailure(Object.assign(new Error('no lock'), { code: -2 }))).toBe(true);
    expect(isLockFailure(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))).toBe(
      false,
    );
  });
});
