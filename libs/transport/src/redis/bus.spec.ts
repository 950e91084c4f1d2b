import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { RedisBus } from './bus';
import type { RedisLink } from './connection/link';
import { Keys } from './keys';

/** A server's view of one subscribing connection: it takes commands in their order. */
class FakeSubscriber extends EventEmitter {
  readonly channels = new Set<string>();
  failure: Error | undefined;

  async subscribe(name: string): Promise<void> {
    this.channels.add(name);
    await Promise.resolve();
    if (this.failure) throw this.failure;
  }

  async unsubscribe(name: string): Promise<void> {
    this.channels.delete(name);
    await Promise.resolve();
  }

  send(text: string): void {
    for (const channel of this.channels)
      this.emit('messageBuffer', Buffer.from(channel), Buffer.from(text));
  }
}

describe('a subscription', () => {
  let subscriber: FakeSubscriber;
  let bus: RedisBus;
  let heard: string[];
  const hear = (payload: Buffer): void => void heard.push(payload.toString());

  beforeEach(() => {
    heard = [];
    subscriber = new FakeSubscriber();
    const call = (_what: string, send: () => Promise<unknown>): Promise<unknown> => send();
    const link = { subscriber, isUp: true, onRestore: () => undefined, call };
    bus = new RedisBus(link as unknown as RedisLink, new Keys('test'));
  });

  it('stays while the last other one of its channel ends', async () => {
    const end = await bus.subscribe('news', () => undefined);
    const next = bus.subscribe('news', hear);
    await Promise.all([end(), next]);
    subscriber.send('one');
    expect(heard).toEqual(['one']);
  });

  it('that failed hears nothing', async () => {
    subscriber.failure = new Error('no answer');
    await expect(bus.subscribe('news', hear)).rejects.toThrow('no answer');
    subscriber.send('one');
    expect(heard).toEqual([]);
  });
});
