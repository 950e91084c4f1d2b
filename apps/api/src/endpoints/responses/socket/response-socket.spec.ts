import { EventEmitter, once } from 'node:events';
import type { Logger } from '@baton/telemetry';
import { expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import type { Received } from '../../../request/take/call';
import { ResponseSocket, type SocketServices } from './response-socket';

it('logs a failure outside the catalogue, which its client hears as engine_error', async () => {
  const broken = new Error('no such field');
  const logged = vi.fn();
  const socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    send: (text: string) => socket.emit('sent', text),
  });
  const services = {
    reader: { read: () => Promise.reject(broken) },
    logger: { error: logged } as unknown as Logger,
  } as unknown as SocketServices;
  new ResponseSocket(socket as unknown as WebSocket, {} as Received, services).listen();
  const sent = once(socket, 'sent');
  socket.emit('message', Buffer.from('{"type":"response.create"}'));
  expect((await sent)[0]).toContain('"status":500');
  expect(logged).toHaveBeenCalledWith({ err: broken }, expect.any(String));
});
