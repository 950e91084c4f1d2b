import { CharSet, JS } from 'refa';

export const MAX_CHARACTER = 0x10ffff;
const SURROGATES = { min: 0xd800, max: 0xdfff };

/** The neighbours between which an assertion holds. */
export type Place = 'start' | 'end' | 'word-edge' | 'word-inside';

export interface CharacterSets {
  /** All code points of a text: every one except lone surrogates. */
  readonly any: CharSet;
  readonly word: CharSet;
  readonly notWord: CharSet;
  /** Places as characters that no text has: refa has no edges that ask for their neighbours. */
  readonly marks: ReadonlyMap<Place, CharSet>;
  /** The places of these characters. */
  readonly places: ReadonlyMap<CharSet, Place>;
}

let sets: CharacterSets | undefined;

/** Made on first use: only the API loads refa, which takes 50 ms. */
export function characterSets(): CharacterSets {
  sets ??= makeSets();
  return sets;
}

function makeSets(): CharacterSets {
  const any = CharSet.all(MAX_CHARACTER).without(SURROGATES);
  const word = JS.createCharSet([{ kind: 'word', negate: false }], { unicode: true });
  const marked = (['start', 'end', 'word-edge', 'word-inside'] as const).map(
    (place, i) => [place, CharSet.fromCharacter(MAX_CHARACTER, SURROGATES.min + i)] as const,
  );
  return {
    any,
    word,
    notWord: any.without(word),
    marks: new Map(marked),
    places: new Map(marked.map(([place, mark]) => [mark, place])),
  };
}
