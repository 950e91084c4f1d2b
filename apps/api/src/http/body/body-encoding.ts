import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { BatonError } from '@baton/contract';
import { Turns, TurnsFull } from '@baton/kernel';
import { BodyBytes } from './body-bytes';

/** Makes the stream that decodes. */
type Decode = () => Transform;

/** Available since Node 22.15. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: Decode };

/** The supported encodings of bodies, by their names in HTTP. */
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', zlib.createGunzip],
  ['x-gzip', zlib.createGunzip],
  ['br', zlib.createBrotliDecompress],
  ...(createZstdDecompress === undefined ? [] : [['zstd', createZstdDecompress] as const]),
]);

/**
 * Number of bodies that are decoded at the same time. Their pieces, 16 MiB each, arrive on the
 * event loop together.
 */
const MOST_DECODED = 2;
/** Bodies that wait, with up to 16 MiB each. */
const MOST_WAITING = 32;
/** Wait that a client is asked for beyond that, s: 32 of the largest bodies take less. */
const RETRY_AFTER_S = 10;

const decoding = new Turns(MOST_DECODED, MOST_WAITING);

/** Decodes the body of a message. */
export type BodyDecoder = (bytes: Buffer, bounds: DecodingBounds) => Promise<Buffer | 'too-large'>;

export interface DecodingBounds {
  readonly maxBytes: number;
  /** Ends the wait for a turn; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * The decoder for a `Content-Encoding`; undefined for a body without one. It works off the event
 * loop and stops at the bound, so that a small body cannot become a large one.
 *
 * @throws BatonError `unsupported_content_encoding`; the decoder throws `invalid_type`, and
 * `threads_busy` when too many bodies wait
 */
export function bodyDecoder(header: string): BodyDecoder | undefined {
  const encoding = header.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  const decode = DECODERS.get(encoding);
  if (decode === undefined) throw unsupported(encoding);
  const failed = (): BatonError =>
    new BatonError('invalid_type', `The request body is not valid ${encoding}.`);
  return (bytes, { maxBytes, signal }) =>
    decoding.take(() => decoded(decode(), failed, { bytes, maxBytes }), signal).catch(refuse);
}

function refuse(error: unknown): never {
  if (!(error instanceof TurnsFull)) throw error;
  throw new BatonError('threads_busy', undefined, null, RETRY_AFTER_S);
}

function decoded(
  stream: Transform,
  failed: () => BatonError,
  { bytes, maxBytes }: { readonly bytes: Buffer; readonly maxBytes: number },
): Promise<Buffer | 'too-large'> {
  return new Promise((resolve, reject) => {
    const body = new BodyBytes(maxBytes);
    stream.on('data', (piece: Buffer) => {
      if (body.add(piece) !== 'too-large') return;
      stream.destroy();
      resolve('too-large');
    });
    stream.once('end', () => resolve(body.whole));
    stream.once('error', () => reject(failed()));
    stream.end(bytes);
  });
}

function unsupported(encoding: string): BatonError {
  const known = [...DECODERS.keys()].join(', ');
  const message = `The Content-Encoding '${encoding.slice(0, 80)}' is not one of ${known}.`;
  return new BatonError('unsupported_content_encoding', message);
}
