import type { IncomingMessage } from 'node:http';
import { BatonError } from '@baton/contract';
import { parseJsonBody } from '@baton/openai';

const texts = new WeakMap<IncomingMessage, string>();

/** The JSON body of a message as it was written, where it was read to be kept. */
export function bodyText(message: IncomingMessage): string | undefined {
  return texts.get(message);
}

export interface BodyReading {
  readonly maxBytes: number;
  /** Somebody will pass the body on as it is. */
  readonly keepsText: boolean;
}

/**
 * Reads a JSON body, counting while it comes. A body that is too large is refused at once, and what
 * the client still sends is thrown away, so that it can read the refusal; the server's request
 * timeout bounds how long that may go on.
 */
export async function readJsonBody(
  message: IncomingMessage,
  { maxBytes, keepsText }: BodyReading,
): Promise<unknown> {
  const announced = Number(message.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const bytes = await collect(message, maxBytes);
  // Some clients announce JSON and send nothing; where a body is needed its reader misses it.
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  const body = parseJsonBody(text);
  if (keepsText) texts.set(message, text);
  return body;
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
