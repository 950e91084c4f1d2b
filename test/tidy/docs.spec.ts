import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configKeys, configSchema, configurationPage, fileName, optionOf } from '@baton/config';
import { GPUS } from '@baton/hardware';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../apps/cli/src/commands';
import { commandLinePage } from '../../apps/cli/src/help/reference-page';
import { allFiles, filesBelow, foldersIn, read, readJson, ROOT } from './repository';

const pages = allFiles().filter((path) => path.endsWith('.md') && !path.startsWith('data/'));

function linksOf(page: string): string[] {
  const withoutCode = read(page).replace(/```[\s\S]*?```/g, '');
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The texts between backticks of a page that have no spaces and no placeholders. */
function namedIn(page: string): string[] {
  const withoutCode = read(page).replace(/```[\s\S]*?```/g, '');
  const names = [...withoutCode.matchAll(/`([^`\s]+)`/g)].map(([, name]) => name ?? '');
  return names.filter((name) => !/[<>*{}…$|,:]/.test(name));
}

/** A path of the repository, but not one of a generated folder. */
const PATH =
  /^(apps|libs|test|bench|validation|scripts|packages|deploy|docs|data|examples|bin)\/(?!.*\bdist)/;

/** True when the path exists from the root, or from the folder of the page. */
function isThere(name: string, page: string): boolean {
  return [ROOT, join(ROOT, dirname(page))].some((from) => existsSync(join(from, name)));
}

/** File names `x.ts` and folders `x/` in the README of a lib that are not below the lib. */
function missingInLib(page: string, paths: readonly string[]): string[] {
  const [, lib] = /^libs\/([^/]+)\/README\.md$/.exec(page) ?? [];
  if (lib === undefined) return [];
  const own = paths.filter((path) => path.startsWith(`libs/${lib}/`));
  const names = namedIn(page).filter(
    (name) => /^[\w./-]+(\.ts|\/)$/.test(name) && !PATH.test(name),
  );
  return names.filter((name) => {
    const part = `/${name.replace(/\/$/, '')}/`;
    return !own.some((path) => `${path}/`.includes(part));
  });
}

describe('the documentation', () => {
  it('links to files that exist', () => {
    const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
    const local = links.filter(({ link }) => !/^(https?:|#|mailto:)/.test(link));
    expect(local.length).toBeGreaterThan(100);
    const broken = local.filter(({ page, link }) => {
      const [path = ''] = link.split('#');
      return !existsSync(join(ROOT, dirname(page), path));
    });
    expect(broken.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
  });

  it('numbers its decisions without gap or repetition, in file name and heading', () => {
    const decisions = filesBelow('docs/decisions')
      .filter((path) => /\/\d+-/.test(path))
      .sort();
    const numbers = decisions.map((path) => Number(/\/(\d+)-/.exec(path)?.[1]));
    expect(numbers).toEqual(decisions.map((_path, index) => index + 1));
    const headings = decisions.map((path) => Number(/^# (\d+)\. /.exec(read(path))?.[1]));
    expect(headings).toEqual(numbers);
  });

  it('has a table of step-time methods for every GPU of the catalogue (npm run docs)', () => {
    const headings = [...read('docs/step-time-methods.md').matchAll(/^## (.*)$/gm)];
    expect(headings.map(([, name]) => name)).toEqual(GPUS.map(({ name }) => name));
  });

  it('has a row for every lib', () => {
    const page = read('docs/ARCHITECTURE.md');
    const isListed = (lib: string): boolean => new RegExp(`^\\| ${lib} \\| \\S`, 'm').test(page);
    expect(foldersIn('libs').filter((lib) => !isListed(lib))).toEqual([]);
  });

  it('names paths, and in the README of a lib files, that exist', () => {
    const paths = allFiles();
    const missing = pages.flatMap((page) =>
      namedIn(page)
        .filter((name) => PATH.test(name) && !isThere(name, page))
        .concat(missingInLib(page, paths))
        .map((name) => `${page}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('describes every option of the configuration as in the code (npm run docs)', () => {
    expect(read('docs/configuration.md')).toBe(configurationPage());
    expect(readJson('docs/baton.schema.json')).toEqual(JSON.parse(JSON.stringify(configSchema())));
    for (const key of configKeys().filter((each) => !optionOf(each).hidden)) {
      expect(read('docs/configuration.md')).toContain(`| \`${fileName(key)}\` |`);
    }
  });

  it('describes every command and its flags as in the code (npm run docs)', async () => {
    const page = read('docs/cli.md');
    expect(page).toBe(await commandLinePage());
    for (const { name } of COMMANDS) expect(page).toContain(`\n## baton ${name}\n`);
    for (const flag of [
      '--help=listgroup',
      '--json',
      '--request-rate <per-second>',
      '--gpus <n>',
    ]) {
      expect(page).toContain(`${flag}\``);
    }
  });
});

describe('the README', () => {
  it('states the errors of docs/validation.md', () => {
    const [row = ''] =
      /^\| aggregated, all but GB200 and GB300 \|.*$/m.exec(read('docs/validation.md')) ?? [];
    const [, , points, , , tpot, , , throughput] = row.split('|').map((cell) => cell.trim());
    const said = read('README.md').replaceAll(/\s+/g, ' ');
    expect(said).toContain(`${Number(points).toLocaleString('en')} published points`);
    expect(said).toContain(`error is ${tpot} in TPOT and ${throughput} in throughput`);
  });

  it('states rows of docs/comparison.md', () => {
    const rows = (page: string): string[] =>
      read(page)
        .split('\n')
        .filter((line) => line.startsWith('|'));
    expect(rows('README.md').length).toBeGreaterThan(7);
    expect(rows('docs/comparison.md')).toEqual(expect.arrayContaining(rows('README.md')));
  });
});

describe('CONTRIBUTING.md', () => {
  const [, section = ''] = read('CONTRIBUTING.md').split('## Which files to open\n');
  const rows = (section.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => /^\| an? /.test(line));
  const named = rows.map((row) => [...row.matchAll(/`([a-z]+\/[^`]+)`/g)].map(([, path]) => path!));

  it('names the files for each frequent addition', () => {
    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(named.filter((paths) => paths.length === 0)).toEqual([]);
  });

  it('names existing files', () => {
    expect(named.flat().filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
