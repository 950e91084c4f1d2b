import { parseJsonBody } from '@baton/openai';

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

/**
 * The body for JSON that was stored or came as a message: parsed, unless it is large. @throws
 * BatonError
 */
export function bodyOfText(text: string): unknown {
  return text.length > MAX_PARSED_BYTES ? largeBody(Buffer.from(text)) : parseJsonBody(text);
}

/** A copy of the bytes in shared memory. */
export function largeBody(bytes: Uint8Array): LargeBody {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return new LargeBody(copy);
}

/** The value of a body, large or not. @throws BatonError `invalid_json` */
export function wholeBody(body: unknown): unknown {
  return body instanceof LargeBody ? parsedBytes(body.bytes) : body;
}

/** @throws BatonError `invalid_json` */
export function parsedBytes(bytes: Uint8Array): unknown {
  return parseJsonBody(Buffer.from(bytes).toString('utf8'));
}
