import type { IncomingMessage } from 'node:http';
import { BatonError } from '@baton/contract';
import { parseJsonBody } from '@baton/openai';

/**
 * Reads a JSON body, counting while it comes. A body that is too large is refused at once, and what the client still sends is thrown away, so that it
 * can read the refusal; the server's request timeout bounds how long that may go on.
 */
export async function readJsonBody(message: IncomingMessage, maxBytes: number): Promise<unknown> {
  const announced = Number(message.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const bytes = await collect(message, maxBytes);
  // Some clients announce JSON and send nothing; where a body is needed its reader misses it.
  return bytes.length === 0 ? undefined : parseJsonBody(bytes.toString('utf8'));
}

function collect(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      message.off('data', onData);
      message.resume();
      reject(tooLarge(maxBytes));
    };
    message.on('data', onData);
    message.once('end', () => resolve(Buffer.concat(chunks)));
    const onGone = (): void => {
      if (!message.complete) reject(new BatonError('request_timeout'));
    };
    message.once('error', onGone);
    message.once('close', onGone);
  });
}

function tooLarge(maxBytes: number): BatonError {
  const mebibytes = Math.round((maxBytes / (1024 * 1024)) * 1_000) / 1_000;
  return new BatonError('body_too_large', `The request body is larger than ${mebibytes} MiB.`);
}
