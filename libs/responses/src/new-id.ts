import { randomBytes } from 'node:crypto';

/** A unique id: the prefix of its kind and 48 random hexadecimal digits. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`;
}
