import { expect, it } from 'vitest';
import { defaultConfig } from './config';
import { transportTimes } from './transport-times';

it('the deadlines of calls of the broker are options', () => {
  expect(transportTimes(defaultConfig())).toMatchObject({ silenceMs: 700, callDeadlineMs: 5_000 });
  const slow = defaultConfig({ brokerSilentAfter: 2, brokerCallTimeout: 9 });
  expect(transportTimes(slow)).toMatchObject({ silenceMs: 2_000, callDeadlineMs: 9_000 });
});
