import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const DROPPED = new Set(['upgrade', 'http2-settings']);

/**
 * Serves a request that offers an unsupported upgrade as if it had not, as HTTP requires: its head
 * is put back before the bytes that follow, and the connection is parsed anew.
 */
export function servePlainly(
  server: Server,
  message: IncomingMessage,
  { socket, head }: { readonly socket: Socket; readonly head: Buffer },
): void {
  const lines = [`${message.method} ${message.url} HTTP/${message.httpVersion}`];
  const { rawHeaders } = message;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (DROPPED.has(name.toLowerCase())) continue;
    const value = rawHeaders[i + 1]!;
    lines.push(`${name}: ${name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
}

function withoutUpgrade(connection: string): string {
  const tokens = connection.split(',').map((token) => token.trim());
  const remaining = tokens.filter((token) => !DROPPED.has(token.toLowerCase()));
  return remaining.join(', ') || 'keep-alive';
}
