import type { RandomStream } from '@baton/kernel';
import { CharSet } from 'refa';
import { MAX_CHARACTER } from './character-sets';

/** What a set offers, by the set: many places of a text have one set. */
const offers = new WeakMap<CharSet, readonly Offer[]>();

interface Offer {
  readonly set: CharSet;
  readonly chances: number;
}

/**
 * A character of a non-empty set: letters and digits where there are some, else other printable
 * characters.
 */
export function pickChar(set: CharSet, random: RandomStream): number {
  let offered = offers.get(set);
  if (offered === undefined) {
    offered = offersOf(set);
    offers.set(set, offered);
  }
  let at = random.integer(offered.reduce((sum, { chances }) => sum + chances, 0));
  for (const offer of offered) {
    if (at < offer.chances) return pickFrom(offer.set, random);
    at -= offer.chances;
  }
  throw new RangeError('a draw beyond the offers');
}

/** Readable characters, with their weights where all are allowed. */
const PREFERRED = { 'a-z': 8, '0-9': 2, 'A-Z': 2 };
/** Other characters, the most readable ones first. */
const OTHERS = [[' -~'], ['À-Ö', 'Ø-ö', 'Α-Ρ', 'А-я', '一-龥']];
const CONTROLS = ['\0-\x1f', '\x7f-\x9f'];

function offersOf(set: CharSet): readonly Offer[] {
  const preferred = Object.entries(PREFERRED)
    .map(([range, chances]) => ({ set: set.intersect(setOf([range])), chances }))
    .filter((one) => !one.set.isEmpty);
  if (preferred.length > 0) return preferred;
  const shown = OTHERS.map((ranges) => set.intersect(setOf(ranges)));
  const found = [...shown, set.without(setOf(CONTROLS))].find((one) => !one.isEmpty);
  return [{ set: found ?? set, chances: 1 }];
}

/** A set of ranges as in `a-z`. */
function setOf(ranges: readonly string[]): CharSet {
  return CharSet.empty(MAX_CHARACTER).union(
    ranges.map((range) => ({ min: range.codePointAt(0)!, max: range.codePointAt(2)! })),
  );
}

function pickFrom(set: CharSet, random: RandomStream): number {
  let at = random.integer(set.size);
  for (const { min, max } of set.ranges) {
    const width = max - min + 1;
    if (at < width) return min + at;
    at -= width;
  }
  throw new RangeError('a draw beyond the set');
}
