import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { BatonError } from '@baton/contract';
import { Turns } from '@baton/kernel';
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
const decoding = new Turns(2);

/** Decodes the body of a message. */
export type BodyDecoder = (bytes: Buffer, maxBytes: number) => Promise<Buffer | 'too-large'>;

/**
 * The decoder for a `Content-Encoding`; undefined for a body without one. It works off the event
 * loop and stops at the bound, so that a small body cannot become a large one.
 *
 * @throws BatonError `unsupported_content_encoding`; the decoder throws `invalid_type`
 */
export function bodyDecoder(header: string): BodyDecoder | undefined {
  const encoding = header.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  const decode = DECODERS.get(encoding);
  if (decode === undefined) throw unsupported(encoding);
  const failed = (): BatonError =>
    new BatonError('invalid_type', `The request body is not valid ${encoding}.`);
  return (bytes, maxBytes) => decoding.take(() => decoded(decode(), failed, { bytes, maxBytes }));
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
