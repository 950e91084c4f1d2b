import { configKeys, fileName } from '@baton/config';
import { ERRORS } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { allFiles, foldersIn, isCode, read } from './repository';

const GLOSSARY = 'docs/GLOSSARY.md';
const [words = '', spellings = ''] = read(GLOSSARY).split('## Spellings\n');

/** The cells of a table with two columns, without its head. */
function rowsOf(text: string): [left: string[], right: string[]][] {
  const rows = [...text.matchAll(/^\| (.+?) \| (.+) \|$/gm)].slice(2);
  return rows.map(([, left = '', right = '']) => [
    left.trim().split(', '),
    right.trim().split(', '),
  ]);
}

const wrong = rowsOf(spellings).flatMap(([, others]) => others);

/** Finds a spelling as a word of its own, also at the start of a sentence and in the plural. */
function patternOf(names: readonly string[]): RegExp {
  const initials = names.map((name) => name.replace(/^[a-z]/, (a) => `[${a}${a.toUpperCase()}]`));
  return new RegExp(`(?<![\\w/.-])(?:${initials.join('|')})s?(?![\\w/-])`);
}

/** A page without code, targets of links, and the names of libs in headings and tables. */
function proseOf(page: string): string {
  const ofLib = new RegExp(`^(# |\\| )(${foldersIn('libs').join('|')})(?= \\||$)`, 'gm');
  return read(page)
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(ofLib, '$1lib');
}

/** Comments and texts of several words in a line of code. */
function textsOf(line: string): string[] {
  const [, comment] = /^\s*(?:\/\*\*|\*|\/\/)(.*)/.exec(line) ?? [];
  if (comment !== undefined) return [comment.replace(/`[^`]*`/g, 'code')];
  const quoted = [...line.matchAll(/'([^']* [^']*)'|`([^`]* [^`]*)`/g)];
  return quoted.map(([, text, template = '']) => text ?? template.replace(/\$\{[^}]*\}/g, 'value'));
}

describe('the spellings of the glossary', () => {
  it('are those of its words', () => {
    const known = new Set(rowsOf(words).flatMap(([names]) => names));
    expect(
      rowsOf(spellings).flatMap(([names]) => names.filter((each) => !known.has(each))),
    ).toEqual([]);
    expect(wrong.length).toBeGreaterThan(10);
  });

  it('are the only ones on the pages, which hold the help of every flag', () => {
    const pages = allFiles().filter((path) => path.endsWith('.md') && !path.startsWith('data/'));
    const found = pages
      .filter((path) => path !== GLOSSARY)
      .flatMap((path) =>
        proseOf(path)
          .split('\n')
          .map((line) => `${path}: ${line}`),
      );
    expect(found.filter((line) => patternOf(wrong).test(line))).toEqual([]);
  });

  it('are the only ones in errors, comments and messages, but for the names of options', () => {
    const options = new Set(configKeys().map(fileName));
    const pattern = patternOf(wrong.filter((name) => !options.has(name)));
    const sources = allFiles().filter(
      (path) => isCode(path) && !/^test\/|\/test\/|\.spec\./.test(path),
    );
    const texts = sources.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line) => textsOf(line).map((text) => `${path}: ${text}`)),
    );
    const messages = Object.values(ERRORS).map(({ message }) => message);
    expect([...texts, ...messages].filter((text) => pattern.test(text))).toEqual([]);
  });
});
