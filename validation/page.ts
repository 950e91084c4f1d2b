import { join } from 'node:path';

export const DOCS = join(__dirname, '..', '..', 'docs');

/** The page that `npm run validate` makes. */
export const PAGE = join(DOCS, 'validation.md');

/** A text of chapters with one of them replaced by another of the same title. */
export function withChapter(text: string, chapter: string): string {
  const [title] = chapter.split('\n', 1);
  const chapters = text.split(/^(?=## )/m);
  const replaced = chapters.map((one) => (one.startsWith(`${title}\n`) ? `${chapter}\n\n` : one));
  return replaced.join('');
}
