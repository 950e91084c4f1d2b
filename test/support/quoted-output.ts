import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TUTORIALS = join('docs', 'tutorials');

/** Lines that the README, the first page and the tutorials quote from the output of a command. */
export function quotedLines(command: string): string[] {
  const tutorials = readdirSync(join(ROOT, TUTORIALS)).map((name) => join(TUTORIALS, name));
  return ['README.md', join('docs', 'start.md'), ...tutorials].flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
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
