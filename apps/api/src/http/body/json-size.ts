import { BatonError } from '@baton/contract';

/**
 * Most values of each kind in a body. The memory of a parsed body depends on its values, not on its
 * bytes.
 */
const MOST: Readonly<Record<string, number>> = {
  '{': 250_000,
  '[': 250_000,
  ':': 400_000,
  ',': 2_500_000,
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
