import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * File and line, `my-policy.mjs:12`, of the first of these functions whose source text stands
 * exactly once in the file. Undefined: none does, as when the file has changed since it was loaded.
 */
export function placeIn(file: string, functions: readonly unknown[]): string | undefined {
  const text = contentOf(file);
  const at = functions
    .map((each) => (typeof each === 'function' ? onlyIndexOf(each.toString(), text) : -1))
    .find((index) => index >= 0);
  if (at === undefined) return undefined;
  return `${basename(file)}:${text.slice(0, at).split('\n').length}`;
}

/** -1 unless the part stands exactly once in the text. */
function onlyIndexOf(part: string, text: string): number {
  const at = text.indexOf(part);
  return text.includes(part, at + 1) ? -1 : at;
}

/** Empty for a file that is gone. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
