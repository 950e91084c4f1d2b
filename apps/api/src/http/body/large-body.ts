import { parseJsonBody } from '@baton/openai';
import { checkJsonSize } from './json-size';

/**
 * A JSON body that takes too long to parse on the event loop. Its bytes lie in shared memory, so
 * that a thread reads them without a copy. Once it has been read, its small fields (numbers, names,
 * `kv_transfer_params`) are fields of this object.
 */
export class LargeBody {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  show(fields: object): void {
    Object.assign(this, fields);
  }
}

/** Bytes that a slow core parses and reads within 20 ms. */
export const MAX_PARSED_BYTES = 32 * 1024;

/** The body for JSON that was stored: parsed, unless it is large. @throws BatonError */
export function bodyOfText(text: string): unknown {
  if (text.length <= MAX_PARSED_BYTES) return parseJsonBody(text);
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return new LargeBody(bytes);
}

/** Like `bodyOfText`, for JSON that arrived as a message. @throws BatonError */
export function bodyOfBytes(bytes: Uint8Array): unknown {
  return bytes.length > MAX_PARSED_BYTES ? largeBody(bytes) : parsedBytes(bytes);
}

/** The bytes in shared memory: a copy, unless they are there. */
export function largeBody(bytes: Uint8Array): LargeBody {
  if (bytes.buffer instanceof SharedArrayBuffer) return new LargeBody(bytes);
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return new LargeBody(copy);
}

/** The value of a body, large or not. @throws BatonError `invalid_json` */
export function wholeBody(body: unknown): unknown {
  return body instanceof LargeBody ? parsedBytes(body.bytes) : body;
}

/** @throws BatonError `invalid_json`, `request_too_complex` */
export function parsedBytes(bytes: Uint8Array): unknown {
  checkJsonSize(bytes);
  return parseJsonBody(Buffer.from(bytes).toString('utf8'));
}
