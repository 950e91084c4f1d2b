import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, read, ROOT } from './repository';

const PAGE = 'docs/compatibility.md';
const DTO_FOLDERS = ['libs/openai/src/request'];

interface Row {
  readonly fields: string;
  readonly test: string;
  readonly file: string;
}

/** The rows of all tables whose last column is a link to a test. */
function rows(): Row[] {
  return read(PAGE)
    .split('\n')
    .flatMap((line) => {
      const found = /^\| (.*?) \|.*\| \[(.*)\]\((\S+)\) \|$/.exec(line);
      if (found === null) return [];
      const [, fields = '', test = '', link = ''] = found;
      return [{ fields, test, file: join(dirname(PAGE), link) }];
    });
}

/** Lines of tables that are neither head nor rule. */
function tableLines(): string[] {
  return read(PAGE)
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (field |---)/.test(line));
}

describe('the page of compatibility', () => {
  it('names a test in every row', () => {
    expect(rows().length).toBe(tableLines().length);
    expect(rows().length).toBeGreaterThan(50);
  });

  it.each(rows())('names a test that exists: $test', ({ test, file }) => {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    const source = read(file).replace(/\\'/g, "'");
    expect(source.includes(test), `${file} has a test named: ${test}`).toBe(true);
  });

  it('has a row for every field that a request may have', () => {
    const listed = new Set(rows().flatMap(({ fields }) => fields.match(/[a-z_]+/g) ?? []));
    const declared = DTO_FOLDERS.flatMap((folder) => filesBelow(folder))
      .filter((path) => path.endsWith('.dto.ts'))
      .flatMap((path) =>
        [...read(path).matchAll(/^ {2}([a-z_]+)[!?]: /gm)].map((match) => match[1]!),
      );
    expect(declared.length).toBeGreaterThan(40);
    expect(declared.filter((field) => !listed.has(field))).toEqual([]);
  });
});
