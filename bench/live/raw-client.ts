import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const EVENT_START = Buffer.from('data: ');

export interface RawTarget {
  readonly host: string;
  readonly port: number;
}

export interface TokenListener {
  /**
   * Called once per event with a token, with the wall time in ms (performance.now) at which its
   * bytes were read.
   */
  onToken(index: number, atMs: number): void;
  onEnd(): void;
}

/**
 * A streamed completion over a bare socket. A benchmark client must cost less than the server that
 * it measures: this one finds event starts in the bytes and parses nothing. Resolves when the
 * headers have arrived.
 *
 * @param request the bytes of `completionRequest`; a long one is made before the measurement,
 * because its making delays what the client reads
 */
export function openStream(
  target: RawTarget,
  request: string,
  listener: TokenListener,
): Promise<Socket> {
  const socket = connect(target.port, target.host);
  socket.setNoDelay(true);
  socket.write(request);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let tokens = 0;
    socket.on('error', reject);
    socket.on('close', () => listener.onEnd());
    socket.on('data', (bytes: Buffer) => {
      let at = 0;
      if (!isOpen) {
        isOpen = true;
        at = Math.max(0, bytes.indexOf(HEAD_END));
        if (!bytes.subarray(0, 15).toString().includes(' 200')) reject(new Error(bytes.toString()));
        else resolve(socket);
      }
      const nowMs = performance.now();
      for (at = bytes.indexOf(EVENT_START, at); at >= 0; at = bytes.indexOf(EVENT_START, at + 6)) {
        if (bytes[at + 6] === 0x5b) socket.end();
        else listener.onToken(tokens++, nowMs);
      }
    });
  });
}

/** One keep-alive connection that sends the next request when the last answer is complete. */
export function hammer(
  target: RawTarget,
  body: object,
  onAnswer: (tookMs: number) => void,
): () => void {
  const request = completionRequest(target, body);
  const socket = connect(target.port, target.host);
  socket.setNoDelay(true);
  let sentMs = performance.now();
  let missing = -1;
  let head: Buffer = Buffer.alloc(0);
  const send = (): void => {
    sentMs = performance.now();
    missing = -1;
    head = Buffer.alloc(0);
    socket.write(request);
  };
  socket.on('connect', send);
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    if (missing < 0) {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      missing = contentLength(head.toString('latin1', 0, end)) - (head.length - end - 4);
    } else missing -= bytes.length;
    if (missing > 0) return;
    onAnswer(performance.now() - sentMs);
    send();
  });
  return () => socket.destroy();
}

function contentLength(head: string): number {
  return Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
}

export function completionRequest({ host, port }: RawTarget, body: object): string {
  const json = JSON.stringify(body);
  return [
    'POST /v1/completions HTTP/1.1',
    `Host: ${host}:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
    '',
    json,
  ].join('\r\n');
}
