import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, read } from './repository';

const shipped = filesBelow('data').filter((path) => path !== 'data/README.md');
const licences = shipped.filter((path) => path.startsWith('data/licences/'));
const data = shipped.filter((path) => !path.startsWith('data/licences/'));
const table = read('data/README.md')
  .split('\n')
  .filter((line) => line.startsWith('|'));

/** The row of data/README.md that names the file or its folder. */
function rowOf(path: string): string | undefined {
  const parts = path.slice('data/'.length).split('/');
  const names = parts.map((_part, index) => {
    const isFile = index === parts.length - 1;
    return `\`${parts.slice(0, index + 1).join('/')}${isFile ? '' : '/'}\``;
  });
  return table.find((row) => names.some((name) => row.includes(name)));
}

describe('what ships in data/', () => {
  it('has rows in data/README.md with its source and a licence', () => {
    expect(data.length).toBeGreaterThan(0);
    const isLicensed = (path: string): boolean =>
      /Apache-2\.0|MIT|CC-BY-4\.0/.test(rowOf(path) ?? '');
    expect(data.filter((path) => !isLicensed(path))).toEqual([]);
  });

  it('has the text of each licence, and a link to each text', () => {
    expect(licences.length).toBeGreaterThan(0);
    const page = read('data/README.md');
    const origins = licences.map((path) => basename(path, '.txt').replace('__', '/'));
    expect(origins.filter((origin) => !page.includes(origin))).toEqual([]);
  });
});
