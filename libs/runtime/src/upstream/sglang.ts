import { randomBytes } from 'node:crypto';
import type { ExecutedRequest } from '@baton/contract';
import type { KvConnector, PrefillLeg } from './kv-connector';
import type { Body } from './leg-bodies';

/** SGLang, as its mini_lb plays it: the client's body goes to both servers with the same three fields, and each does its own part. */
export class Sglang implements KvConnector {
  /** @param bootstrap  of the prefill server; unset where no prefill leg is sent */
  constructor(
    private readonly bootstrap: { readonly host: string; readonly port: number } | undefined,
  ) {}

  prefillLeg({ body }: ExecutedRequest): PrefillLeg {
    const early = {
      bootstrap_host: this.bootstrap?.host,
      bootstrap_port: this.bootstrap?.port,
      bootstrap_room: newRoom(),
    };
    return { body: { ...body, ...early }, early, learn: () => early };
  }

  decodeBody(body: Body, params: Body | undefined): Body {
    return { ...body, ...params };
  }
}

/** SGLang draws from 63 bits; a JSON number of ours holds 53. */
function newRoom(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n);
}
