import { TransportUnavailable } from '@baton/transport';
import { expect, it } from 'vitest';
import type { Owned } from '../../http/access/tenant';
import type { ReaderWatch } from '../../http/streaming/reader-watch';
import type { Broker, Log } from '../../tokens';
import { Broadcasts, type Follower } from './broadcasts';
import type { ResponseStore } from './response-store';
import type { ResponseViews } from './response-views';

it('ends the stream of a follower that cannot be subscribed', async () => {
  const lost = (): Promise<never> => Promise.reject(new TransportUnavailable('no answer'));
  const broadcasts = new Broadcasts(
    {} as Log,
    { bus: { subscribe: lost } } as unknown as Broker,
    {} as ResponseStore,
    {} as ResponseViews,
    {} as ReaderWatch,
  );
  let hasEnded = false;
  const follower = { endStream: () => void (hasEnded = true) } as unknown as Follower;
  const followed = broadcasts.follow({ id: 'resp_1' } as Owned, follower, -1);
  await expect(followed).rejects.toThrow('no answer');
  expect(hasEnded).toBe(true);
});
