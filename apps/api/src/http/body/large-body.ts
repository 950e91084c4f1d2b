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

/** The value of a body, large or not. @throws BatonError `invalid_json` */
export function wholeBody(body: unknown): unknown {
  return body instanceof LargeBody ? parsedBytes(body.bytes) : body;
}

/** @throws BatonError `invalid_json` */
export function parsedBytes(bytes: Uint8Array): unknown {
  return parseJsonBody(Buffer.from(bytes).toString('utf8'));
}
