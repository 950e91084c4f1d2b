import type { RandomStream } from '@baton/kernel';
import { type CharSet, differenceOf, intersectionOf } from './char-set';

/** Readable characters, with their weights where all are allowed. */
const PREFERRED: readonly (readonly [set: CharSet, chances: number])[] = [
  [[0x61, 0x7a], 8],
  [[0x30, 0x39], 2],
  [[0x41, 0x5a], 2],
];
const PRINTABLE: CharSet = [0x20, 0x7e];
const LETTERS_BEYOND: CharSet = [
  0xc0, 0xd6, 0xd8, 0xf6, 0x391, 0x3a1, 0x410, 0x44f, 0x4e00, 0x9fa5,
];
const CONTROLS: CharSet = [0, 0x1f, 0x7f, 0x9f];

/**
 * A character of a non-empty set: letters and digits where there are some, else other printable
 * characters.
 */
export function pickChar(set: CharSet, random: RandomStream): number {
  const groups = PREFERRED.map(
    ([group, chances]) => [intersectionOf(set, group), chances] as const,
  );
  const filled = groups.filter(([group]) => group.length > 0);
  if (filled.length > 0) return pickFrom(weighted(filled, random), random);
  for (const group of [PRINTABLE, LETTERS_BEYOND]) {
    const common = intersectionOf(set, group);
    if (common.length > 0) return pickFrom(common, random);
  }
  const shown = differenceOf(set, CONTROLS);
  return pickFrom(shown.length > 0 ? shown : set, random);
}

function weighted(
  groups: readonly (readonly [set: CharSet, chances: number])[],
  random: RandomStream,
): CharSet {
  let at = random.integer(groups.reduce((sum, [, chances]) => sum + chances, 0));
  for (const [set, chances] of groups) {
    if (at < chances) return set;
    at -= chances;
  }
  return groups[0]![0];
}

function pickFrom(set: CharSet, random: RandomStream): number {
  let size = 0;
  for (let i = 0; i < set.length; i += 2) size += set[i + 1]! - set[i]! + 1;
  let at = random.integer(size);
  for (let i = 0; i < set.length; i += 2) {
    const width = set[i + 1]! - set[i]! + 1;
    if (at < width) return set[i]! + at;
    at -= width;
  }
  return set[0]!;
}
