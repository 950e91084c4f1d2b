import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import type { World, WorldFactory } from './world';

export function describeBus(makeWorld: WorldFactory): void {
  describe('bus', () => {
    let world: World;
    let publisher: Transport;
    let subscriber: Transport;
    beforeEach(async () => {
      world = makeWorld();
      publisher = await world.connect();
      subscriber = await world.connect();
    });
    afterEach(() => world.close());

    it('delivers what one publisher sends in its order, byte for byte', async () => {
      const received: string[] = [];
      await subscriber.bus.subscribe('api:a', (payload) => received.push(payload.toString('hex')));
      const sent = Array.from({ length: 200 }, (_, i) => Buffer.from([0xff, 0, i, 0x80]));
      for (const payload of sent) publisher.bus.publish('api:a', payload);
      await waitUntil(() => received.length === 200, { what: 'all messages have arrived' });
      expect(received).toEqual(sent.map((payload) => payload.toString('hex')));
    });

    it('delivers to every subscriber of the channel and to no other', async () => {
      const received: string[] = [];
      await publisher.bus.subscribe('aborts', () => received.push('own'));
      await subscriber.bus.subscribe('aborts', () => received.push('first'));
      await subscriber.bus.subscribe('aborts', () => received.push('second'));
      await subscriber.bus.subscribe('other', () => received.push('other'));
      publisher.bus.publish('aborts', Buffer.from('x'));
      await waitUntil(() => received.length === 3, { what: 'three subscribers have the message' });
      expect(received.sort()).toEqual(['first', 'own', 'second']);
    });

    it('is silent after unsubscribing, even when others still listen', async () => {
      const received: string[] = [];
      const stop = await subscriber.bus.subscribe('c', () => received.push('stopped'));
      await subscriber.bus.subscribe('c', () => received.push('stays'));
      await stop();
      await stop();
      publisher.bus.publish('c', Buffer.from('x'));
      await waitUntil(() => received.length === 1, {
        what: 'the other subscriber has the message',
      });
      expect(received).toEqual(['stays']);
    });
  });
}
