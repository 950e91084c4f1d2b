import { editDistance, lastSegment } from '@baton/kernel';
import { HardwareError } from './hardware-error';

/** An entry that a user selects by name from a catalogue. */
export interface Named {
  readonly name: string;
  readonly aliases: readonly string[];
}

const SUGGESTIONS = 3;

/**
 * The entry with this name or alias. Case, punctuation and a leading organisation (`meta-llama/`)
 * are ignored.
 *
 * @throws HardwareError `unknown-name`, with the nearest names
 */
export function findByName<T extends Named>(kind: string, entries: readonly T[], name: string): T {
  const wanted = normalise(name);
  const found = entries.find((entry) => goesBy(entry, name));
  if (found) return found;
  const near = entries
    .map((entry) => ({ name: entry.name, distance: distanceTo(entry, wanted) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS)
    .map((entry) => entry.name);
  throw new HardwareError(
    'unknown-name',
    `Unknown ${kind} '${name}'. Nearest known: ${near.join(', ')}.`,
  );
}

/** True when the entry has this name or alias. */
export function goesBy(entry: Named, name: string): boolean {
  const wanted = normalise(name);
  return namesOf(entry).some((own) => normalise(own) === wanted);
}

function namesOf(entry: Named): string[] {
  return [entry.name, ...entry.aliases];
}

function normalise(name: string): string {
  const withoutOrganisation = lastSegment(name);
  return withoutOrganisation.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function distanceTo(entry: Named, wanted: string): number {
  return Math.min(...namesOf(entry).map((own) => editDistance(normalise(own), wanted)));
}
