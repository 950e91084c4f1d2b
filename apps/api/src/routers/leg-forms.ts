import { isObject } from '@baton/kernel';
import { Injectable } from '@nestjs/common';
import type { UnreadCall } from '../request/take/call';
import { type Leg, type LegFacts, legOf } from './leg';

/** A field of the body, a field of its `kv_transfer_params`, or a request id of this kind. */
export type LegSign =
  { readonly field: string } | { readonly param: string } | { readonly requestId: RegExp };

/** The legs of one project, beside those in vLLM's own `kv_transfer_params`. */
export interface LegForm {
  readonly sign: LegSign;
  /** Loads the reader of a leg, with the first call that has the sign. */
  readonly load: () => Promise<LegReader>;
}

export interface LegReader {
  /** Undefined: the call has the sign and is no leg of this form. */
  readonly legOf: (facts: LegFacts) => Leg | undefined;
}

type Signed = Pick<UnreadCall, 'body' | 'clientRequestId'>;

/** The forms of legs that modules of other projects have added. */
@Injectable()
export class LegForms {
  private readonly forms: LegForm[] = [];

  add(form: LegForm): void {
    this.forms.push(form);
  }

  /** False when the call has the sign of no form. */
  areIn(call: Signed): boolean {
    for (const { sign } of this.forms) if (isIn(call, sign)) return true;
    return false;
  }

  async legOf(facts: LegFacts): Promise<Leg> {
    const own = legOf(facts.params, facts.clientRequestId);
    if (own !== undefined) return own;
    for (const { sign, load } of this.forms) {
      const isMeant = facts.params === undefined ? isIn(facts, sign) : isParam(facts.params, sign);
      const leg = isMeant ? (await load()).legOf(facts) : undefined;
      if (leg !== undefined) return leg;
    }
    return { kind: 'none' };
  }
}

function isIn({ body, clientRequestId }: Signed, sign: LegSign): boolean {
  if ('field' in sign) return isObject(body) && sign.field in body;
  if ('param' in sign || clientRequestId === undefined) return false;
  return sign.requestId.test(clientRequestId);
}

function isParam(params: object, sign: LegSign): boolean {
  return 'param' in sign && sign.param in params;
}
