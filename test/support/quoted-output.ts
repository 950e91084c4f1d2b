import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

/** Lines that the first pages and the tutorials quote from the output of a command. */
export function quotedLines(command: string): string[] {
  const tutorials = readdirSync(join(DOCS, 'tutorials')).map((name) => join('tutorials', name));
  return ['start.md', ...tutorials].flatMap((page) => {
    const text = readFileSync(join(DOCS, page), 'utf8');
    const quotes = text.matchAll(/^```sh\n([^`]*)^```\n\n```text\n([^`]*)^```/gm);
    return [...quotes]
      .filter(([, shell]) => shell!.split('\n').includes(command))
      .flatMap(([, , output]) => comparableLines(output!));
  });
}

/** Lines of an output without what a cut leaves out and what the wall clock says. */
export function comparableLines(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '' && line !== '…')
    .map((line) => line.replace(/ in [\d.]+ m?s: [\d,]+ requests\/s/, ''));
}
