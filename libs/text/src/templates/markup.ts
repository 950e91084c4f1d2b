import type { Marker } from '../tokenizers/markers';
import type { Tokenizer } from '../tokenizers/tokenizer';

/** The text and markers that a template writes around contents. A marker is one token. */
export type Markup = readonly (string | { readonly marker: Marker })[];

export function mark(marker: Marker): { readonly marker: Marker } {
  return { marker };
}

/**
 * Encodes each piece separately, so that no text becomes a marker and no token spans two pieces.
 */
export function encodeMarkup(tokenizer: Tokenizer, markup: Markup): number[] {
  const ids: number[] = [];
  for (const piece of markup) {
    if (typeof piece === 'string') for (const id of tokenizer.encode(piece)) ids.push(id);
    else ids.push(tokenizer.special.idOf(piece.marker));
  }
  return ids;
}
