import type { IncomingMessage } from 'node:http';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { parseJsonBody } from '@baton/openai';
import { BodyBytes } from './body/body-bytes';
import { bodyDecoder } from './body/body-encoding';
import { largeBody, MAX_PARSED_BYTES } from './body/large-body';
import { utf8Body } from './body/utf8-body';

const texts = new WeakMap<IncomingMessage, string>();

/** The JSON body of a message as it was written; undefined unless it was kept. */
export function bodyText(message: IncomingMessage): string | undefined {
  return texts.get(message);
}

/**
 * Bytes of a too large body that are read and dropped so that the client receives the refusal, in
 * multiples of the limit.
 */
const MOST_DROPPED_BODIES = 16;
/** A longer pause ends that reading; it exceeds the round trip to a client. */
const LONGEST_PAUSE_MS = 250;

/** Bytes of a body that no thread reads: 16 members of metadata fit with all letters escaped. */
const MOST_SHORT_BYTES = 64 * 1024;

/** The lengths of bodies at one route. */
interface BodyLimits {
  /** False when no route matched; the body is then dropped. */
  readonly isRead: boolean;
  /** True where threads read long bodies. */
  readonly mayBeLong: boolean;
  readonly maxBytes: number;
  /** Bytes of a refused body that are read so that its client receives the refusal. */
  readonly mostDropped: number;
}

export interface BodyReading {
  readonly limits: BodyLimits;
  /** Keeps the text, for a server that gets the body unchanged. */
  readonly keepsText: boolean;
  /** A long body stays as it is, as a `LargeBody`, where threads read it. */
  readonly leavesLarge: boolean;
}

/** Routes whose bodies can be long: threads read them. */
const THREADED = new RegExp(
  [
    '^/v1/chat/completions(/(batch|render|derender))?$',
    '^/v1/completions(/(render|derender))?$',
    '^/v1/messages(/count_tokens)?$',
    '^(/v1)?/(embeddings|score)$',
    '^(/v[12])?/rerank$',
    '^/v1/responses(/(compact|input_tokens))?$',
    '^/v1/conversations(/[^/]+/items)?$',
    '^/(pooling|classify|tokenize|detokenize|generate|inference/v1/generate)$',
  ].join('|'),
);

/** @param route the pattern that matched; undefined when none did */
export function bodyLimits(config: BatonConfig, route: string | undefined): BodyLimits {
  const mostSent = Math.floor(config.maxRequestBodyMb * 1024 * 1024);
  const mayBeLong = route !== undefined && THREADED.test(route);
  return {
    isRead: route !== undefined,
    mayBeLong,
    maxBytes: mayBeLong ? mostSent : Math.min(mostSent, MOST_SHORT_BYTES),
    mostDropped: mostSent * MOST_DROPPED_BODIES,
  };
}

/** Refuses a body by its announced length. @throws BatonError `body_too_large` */
export async function refuseLong(message: IncomingMessage, limits: BodyLimits): Promise<void> {
  if (limits.isRead && announcedBytes(message) > limits.maxBytes) {
    throw await refused(message, limits);
  }
}

/**
 * Reads a JSON body and counts its bytes on the way. A body that is too large is refused
 * immediately. The rest of it is discarded, so that the client can read the refusal. The server's
 * request timeout limits the time for that.
 */
export async function readJsonBody(
  message: IncomingMessage,
  { limits, keepsText, leavesLarge }: BodyReading,
): Promise<unknown> {
  const { isRead, mayBeLong, maxBytes, mostDropped } = limits;
  if (!isRead) return void (await dropped(message, mostDropped));
  const encoding = message.headers['content-encoding'];
  const decode = encoding === undefined ? undefined : bodyDecoder(encoding);
  const sent = await collect(message, new BodyBytes(maxBytes, announcedBytes(message)));
  if (sent === 'too-large') throw await refused(message, limits);
  const plain =
    decode === undefined
      ? sent
      : await whileConnected(message, (signal) => decode(sent, { maxBytes, signal }));
  if (plain === 'too-large') throw tooLarge(maxBytes);
  const bytes = utf8Body(plain);
  // Some clients announce JSON and send nothing. Where a body is required, its reader reports the
  // error.
  if (bytes.length === 0) return undefined;
  if (bytes.length > MAX_PARSED_BYTES && leavesLarge && mayBeLong) {
    return largeBody(bytes);
  }
  const text = bytes.toString('utf8');
  const body = parseJsonBody(text);
  if (keepsText) texts.set(message, text);
  return body;
}

function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

/** The signal aborts when the client has gone. */
async function whileConnected<T>(
  { socket }: IncomingMessage,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new BatonError('request_timeout'));
  if (socket.destroyed) leave();
  socket.once('close', leave);
  try {
    return await act(gone.signal);
  } finally {
    socket.off('close', leave);
  }
}

function collect(message: IncomingMessage, bytes: BodyBytes): Promise<Buffer | 'too-large'> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      const fault = bytes.add(chunk);
      if (fault === undefined) return;
      // The parser still passes on the pieces that it has read.
      message.off('data', onData);
      if (fault === 'fragmented') {
        // The connection ends without an answer, before the rest of it is read.
        message.destroy();
        return;
      }
      message.resume();
      resolve('too-large');
    };
    message.on('data', onData);
    message.once('end', () => resolve(bytes.whole));
    const onGone = (): void => {
      if (!message.complete) reject(new BatonError('request_timeout'));
    };
    message.once('error', onGone);
    message.once('close', onGone);
  });
}

/**
 * Resolves to the refusal once the client can read it. The refusal closes the connection, and a
 * client that still writes would get a reset instead. So the data under way is read and dropped
 * first, within bounds. A client that waits for the answer sends nothing meanwhile and gets it
 * soon.
 */
async function refused(
  message: IncomingMessage,
  { maxBytes, mostDropped }: BodyLimits,
): Promise<BatonError> {
  await dropped(message, mostDropped);
  return tooLarge(maxBytes);
}

function dropped(message: IncomingMessage, mostBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let size = 0;
    const pause = setTimeout(resolve, LONGEST_PAUSE_MS);
    const end = (): void => {
      clearTimeout(pause);
      resolve();
    };
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBytes) end();
      else pause.refresh();
    });
    message.once('end', end);
    message.once('close', end);
    message.resume();
  });
}

function tooLarge(maxBytes: number): BatonError {
  const mebibytes = Math.round((maxBytes / (1024 * 1024)) * 1_000) / 1_000;
  return new BatonError('body_too_large', `The request body is larger than ${mebibytes} MiB.`);
}
