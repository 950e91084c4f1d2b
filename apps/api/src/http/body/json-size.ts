import { BatonError } from '@baton/contract';

/**
 * Most values of each kind in a body. The memory of a parsed body depends on its values, not on its
 * bytes. A thread at its heap limit gets 16 MiB more (docs/limits.md). A list of so many values
 * stays below that, with the half that V8 adds as it grows; so does an object or map of so many
 * members, for which V8 has up to 524,288 places of 24 to 28 bytes.
 */
const MOST: Readonly<Record<string, number>> = {
  '{': 250_000,
  '[': 250_000,
  ':': 340_000,
  ',': 1_300_000,
};

/**
 * Refuses JSON with more objects, members or values than a thread has memory for. Counts the marks
 * wherever they stand, in texts too, before anything is parsed.
 *
 * @throws BatonError `request_too_complex`
 */
export function checkJsonSize(bytes: Uint8Array): void {
  const counts = new Uint32Array(256);
  for (let i = 0; i < bytes.length; i += 1) counts[bytes[i]!]! += 1;
  for (const [mark, most] of Object.entries(MOST)) {
    if (counts[mark.charCodeAt(0)]! > most) throw new BatonError('request_too_complex');
  }
}
