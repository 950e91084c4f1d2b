import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ConsumeOptions } from '../../port/queues';
import type { LinkEvent } from '../connection/link';
import { type ConsumerParts, RedisConsumer } from './consumer';

function consume() {
  let listener: (event: LinkEvent) => void = () => undefined;
  const stopped = vi.fn();
  const link = {
    isUp: false,
    onEvent: (given: typeof listener) => ((listener = given), stopped),
    processClock: { awakeMs: () => 0, leaseMs: () => 0 },
  };
  const never = new Promise<never>(() => undefined);
  const take = vi.fn(() => never);
  const parts = {
    link,
    worker: { close: () => Promise.resolve(), opts: {} },
    times: { stalledCheckMs: 600_000, lockMs: 600_000 },
    taking: { take, hasOrder: false },
  } as unknown as ConsumerParts;
  const consumer = new RedisConsumer(parts, { room: () => 1 } as unknown as ConsumeOptions);
  onTestFinished(() => consumer.close());
  const restore = (): void => {
    link.isUp = true;
    listener('restored');
  };
  return { consumer, take, restore, stopped };
}

it('a consumer takes nothing while its link is down, and takes when it is back', async () => {
  const { consumer, take, restore } = consume();
  consumer.wake();
  await turn();
  expect(take).not.toHaveBeenCalled();
  restore();
  await turn();
  expect(take).toHaveBeenCalledTimes(1);
});

it('a consumer that is closed does not follow its link any more', async () => {
  const { consumer, stopped } = consume();
  await consumer.close();
  expect(stopped).toHaveBeenCalledTimes(1);
});
