import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { read, ROOT } from './repository';

/** A test by its name on a page. `…` stands for values of a table. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** Tests by links, as in `| field | … | [name](../file.spec.ts) |`. */
export function linkedTests(page: string, row: string): NamedTest[] {
  const found = /\| \[(.*)\]\((\S+)\) *\|$/.exec(row);
  return found === null ? [] : [{ name: found[1]!, file: join(dirname(page), found[2]!) }];
}

/**
 * Tests by letter or file and name, as in `| … | E "one", "two"; \`libs/x.spec.ts\` "three" |`;
 * letters stand for files.
 */
export function quotedTests(row: string, letters: ReadonlyMap<string, string>): NamedTest[] {
  const cell = row.split(' | ').at(-1) ?? '';
  return [...cell.matchAll(/(?:`([^`]+)`|\b([A-Z])\b) ((?:"[^"]+"(?:, )?)+)/g)].flatMap(
    ([, path, letter, names = '']) => {
      const file = path ?? letters.get(letter ?? '') ?? `(${letter} stands for no file)`;
      return [...names.matchAll(/"([^"]+)"/g)].map(([, name]) => ({ file, name: name! }));
    },
  );
}

/** The fault in a test's name. Empty when the test exists. */
export function faultOf({ file, name }: NamedTest): string {
  if (!existsSync(join(ROOT, file))) return `${file} is not there`;
  const wanted = patternOf(name, /…/);
  const isThere = titlesIn(file).some(
    (title) =>
      patternOf(title, PLACEHOLDER).test(name) || wanted.test(title.replace(PLACEHOLDERS, '…')),
  );
  return isThere ? '' : `${file} has no test named: ${name}`;
}

/**
 * The functions that a cell of a table names and that are not there, as in `\`one\`, \`two\` in
 * \`libs/x.ts\`; \`three\``; a cell without names is a fault itself.
 *
 * @param file  where names without a file are
 */
export function missingFunctions(cell: string, folder: string, file = ''): string[] {
  return cell.split(';').flatMap((part) => {
    const quoted = [...part.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
    const path = join(folder, quoted.find((text) => text.endsWith('.ts')) ?? file);
    const names = quoted.filter((text) => !text.endsWith('.ts'));
    if (names.length === 0 || !existsSync(join(ROOT, path))) return [`nothing there: ${part}`];
    return names.filter((name) => !declares(path, name)).map((name) => `${path} has no ${name}`);
  });
}

/** Whether a line of the file begins a function, method or field of this name. */
function declares(file: string, name: string): boolean {
  const words = 'export|function|private|protected|abstract|readonly|get|async';
  return new RegExp(`^ *(?:(?:${words}) )*${name}(?:\\(|<|:| =)`, 'm').test(read(file));
}

/** The end of one text and the start of its continuation in the next line. */
const JOINED_PIECES = /(['"`]) \+\s+\1/g;
const PLACEHOLDER = /%[a-z]|\$[\w.]+/;
const PLACEHOLDERS = new RegExp(PLACEHOLDER, 'g');
const titles = new Map<string, readonly string[]>();

/** Texts of a file that may be the title of a test: its literals, except mere placeholders. */
function titlesIn(file: string): readonly string[] {
  let found = titles.get(file);
  if (found === undefined) {
    const source = read(file).replace(JOINED_PIECES, '');
    const literals = source.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`/g);
    found = [...literals]
      .map(([, single, double, template]) =>
        (single ?? double ?? template)!.replace(/\\(.)/g, '$1'),
      )
      .filter((title) => /[a-z_]{2}/.test(title.replace(PLACEHOLDERS, '')));
    titles.set(file, found);
  }
  return found;
}

function patternOf(text: string, gap: RegExp): RegExp {
  const parts = text.split(gap).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
