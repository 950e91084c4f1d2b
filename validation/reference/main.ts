import { readFileSync, writeFileSync } from 'node:fs';
import { PAGE, withChapter } from '../page';
import { referenceChapter } from './reference-report';

/** Prints the chapter of the reference steps. `--save` replaces it in docs/validation.md. */
function main(): void {
  const chapter = referenceChapter();
  process.stdout.write(`${chapter}\n`);
  if (!process.argv.includes('--save')) return;
  writeFileSync(PAGE, withChapter(readFileSync(PAGE, 'utf8'), chapter));
}

main();
