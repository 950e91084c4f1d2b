import * as zlib from 'node:zlib';
import { BatonError } from '@baton/contract';

type Decode = (
  bytes: Buffer,
  options: zlib.ZlibOptions,
  done: (error: Error | null, decoded: Buffer) => void,
) => void;

/** Available since Node 22.15. */
const { zstdDecompress } = zlib as { readonly zstdDecompress?: Decode };

/** The supported encodings of bodies, by their names in HTTP. */
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', zlib.gunzip],
  ['x-gzip', zlib.gunzip],
  ['br', zlib.brotliDecompress],
  ...(zstdDecompress === undefined ? [] : [['zstd', zstdDecompress] as const]),
]);

/** zlib's code for a result that would be larger than allowed. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

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
  return (bytes, maxBytes) =>
    new Promise((resolve, reject) => {
      decode(bytes, { maxOutputLength: maxBytes }, (error, decoded) => {
        if (error === null) resolve(decoded);
        else if ('code' in error && error.code === TOO_LARGE) resolve('too-large');
        else reject(new BatonError('invalid_type', `The request body is not valid ${encoding}.`));
      });
    });
}

function unsupported(encoding: string): BatonError {
  const known = [...DECODERS.keys()].join(', ');
  const message = `The Content-Encoding '${encoding.slice(0, 80)}' is not one of ${known}.`;
  return new BatonError('unsupported_content_encoding', message);
}
