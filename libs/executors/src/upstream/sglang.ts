import { randomBytes } from 'node:crypto';
import type { Body, JsonObjectText } from '../server/json-object-text';
import type { ClientRequest, KvConnector, PrefillLeg } from './kv-connector';

/**
 * SGLang, as its mini_lb plays it: the client's body goes to both servers with the same three
 * fields, and each does its own part.
 */
export class Sglang implements KvConnector {
  /** @param bootstrap  of the prefill server; unset where no prefill leg is sent */
  constructor(
    private readonly bootstrap: { readonly host: string; readonly port: number } | undefined,
  ) {}

  prefillLeg({ body }: ClientRequest): PrefillLeg {
    const early = {
      bootstrap_host: this.bootstrap?.host,
      bootstrap_port: this.bootstrap?.port,
      bootstrap_room: newRoom(),
    };
    return { body: body.with(early), early, learn: () => early };
  }

  decodeBody(body: JsonObjectText, params: Body | undefined): JsonObjectText {
    return params === undefined ? body : body.with(params);
  }
}

/** SGLang draws from 63 bits; a JavaScript number holds 53. */
function newRoom(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n);
}
