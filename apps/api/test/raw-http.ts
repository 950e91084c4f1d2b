import { connect, type Socket } from 'node:net';

/** The bytes that a server sent over one connection until it closed or `isDone` returned true. */
export function exchange(
  port: number,
  request: string | Buffer,
  isDone: (text: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const finish = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isDone(text)) finish();
    });
    socket.on('close', finish);
    socket.on('error', finish);
    socket.write(request);
  });
}

/** As `exchange`, by a client that reads nothing until the last byte of its request is written. */
export function writeThenRead(port: number, request: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.pause();
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n') && text.endsWith('}')) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(request, () => socket.resume());
  });
}

/** A raw request with the given header lines. */
export function rawPost(path: string, body: string, headers: readonly string[] = []): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    ...headers,
  ];
  const hasLength = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
  if (!hasLength) lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** The status and JSON body of a raw answer. */
export function parseAnswer(text: string): { status: number; headers: string; body: unknown } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  return { status: Number(head.split(' ')[1]), headers: head.toLowerCase(), body: parse(body) };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** A connection that sends a request and reads nothing until the test starts it. */
export function lazyReader(port: number, request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.pause();
      socket.write(request);
      resolve(socket);
    });
  });
}
