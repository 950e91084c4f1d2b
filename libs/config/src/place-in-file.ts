import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * File and line, `my-policy.mjs:12`, of the first of these functions whose source text stands
 * exactly once in the file. Undefined when no text is found, for example because the file has
 * changed since it was loaded.
 */
export function placeIn(file: string, functions: readonly unknown[]): string | undefined {
  const text = readContent(file);
  const at = functions
    .map((each) => (typeof each === 'function' ? onlyIndexOf(each.toString(), text) : -1))
    .find((index) => index >= 0);
  if (at === undefined) return undefined;
  return `${basename(file)}:${text.slice(0, at).split('\n').length}`;
}

/** The place of the part in the text; -1 unless the part occurs exactly once. */
function onlyIndexOf(part: string, text: string): number {
  const at = text.indexOf(part);
  return text.includes(part, at + 1) ? -1 : at;
}

/** The content of the file; empty when the file does not exist any more. */
function readContent(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
