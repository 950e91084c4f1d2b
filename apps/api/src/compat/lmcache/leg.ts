import { asciiJson } from '@baton/text';
import type { Generated, Leg, LegFacts } from '../../routers/leg';

/**
 * LMCache's own proxy continues after the first token and needs its id. LMCache's receiver carries
 * the KV past the engines, so nothing is held here.
 */
export function legOf({ params }: LegFacts): Leg | undefined {
  return params?.['ret_first_tok'] === true ? { kind: 'none', shows: showsFirstToken } : undefined;
}

function showsFirstToken(_held: unknown, { results: [first] }: Generated) {
  const token = asciiJson({ first_tok: first?.plan.tokenIds[0] ?? null });
  return { kvTransferParams: undefined, extras: { body: { kv_transfer_params: token } } };
}
