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
  return markup.flatMap((piece) =>
    typeof piece === 'string' ? tokenizer.encode(piece) : tokenizer.special.idOf(piece.marker),
  );
}
