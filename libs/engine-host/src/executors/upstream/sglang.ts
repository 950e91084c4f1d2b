import { randomBytes } from 'node:crypto';
import type { Body, JsonObjectText } from '../server/json-object-text';
import type { ClientRequest, KvConnector, PrefillLeg } from './kv-connector';

/**
 * SGLang, following its mini_lb: both servers get the client's body with the same three additional
 * fields, and each does its own part.
 */
export class Sglang implements KvConnector {
  /** @param bootstrap of the prefill server; undefined: no prefill leg is sent */
  constructor(
    private readonly bootstrap: { readonly host: string; readonly port: number } | undefined,
  ) {}

  prefillLeg({ body }: ClientRequest): PrefillLeg {
    const early = {
      bootstrap_host: this.bootstrap?.host,
      bootstrap_port: this.bootstrap?.port,
      bootstrap_room: newRoom(),
    };
    return { body: body.with(early), early, decodeLegParams: () => early };
  }

  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
    return params === undefined ? body : body.with(params);
  }
}

/** A random room. SGLang uses 63 bits; a JavaScript number holds 53. */
function newRoom(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n);
}
