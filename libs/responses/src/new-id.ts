import { randomBytes } from 'node:crypto';

/** A name that no other thing has: 48 hexadecimal digits behind the prefix of its kind. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}
