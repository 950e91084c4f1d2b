import { defaultConfig } from '@baton/config';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ClusterView } from '../../cluster/cluster-view';
import type { Owned } from '../../http/access/tenant';
import type { ApiIdentity, Broker, Log } from '../../tokens';
import { Timelines } from './timelines';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('hears no answers any more when its question is over before it was asked', async () => {
  let hasEnded = false;
  const end = (): Promise<void> => Promise.resolve(void (hasEnded = true));
  const subscribe = (): Promise<() => Promise<void>> =>
    new Promise((resolve) => setTimeout(() => resolve(end), 2_000));
  const publish = vi.fn();
  const timelines = new Timelines(
    defaultConfig(),
    { isConnected: true, bus: { subscribe, publish } } as unknown as Broker,
    {} as ApiIdentity,
    {} as Log,
    {} as ClusterView,
  );
  const found = timelines.find({ id: 'unknown' } as Owned);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await found).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(hasEnded).toBe(true);
  expect(publish).not.toHaveBeenCalled();
});
