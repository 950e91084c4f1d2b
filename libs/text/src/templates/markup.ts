import type { Marker } from '../tokenizers/markers';
import type { Tokenizer } from '../tokenizers/tokenizer';

/** What a template writes around texts: text of its own, and markers, which are one token each. */
export type Markup = readonly (string | { readonly marker: Marker })[];

export function mark(marker: Marker): { readonly marker: Marker } {
  return { marker };
}

/**
 * Each piece is encoded by itself, so no text becomes a marker and none melts into its neighbour.
 */
export function encodeMarkup(tokenizer: Tokenizer, markup: Markup): number[] {
  const ids: number[] = [];
  for (const piece of markup) {
    if (typeof piece === 'string') for (const id of tokenizer.encode(piece)) ids.push(id);
    else ids.push(tokenizer.special.idOf(piece.marker));
  }
  return ids;
}
