import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moduleCache } from '../../scripts/module-cache.mjs';
import { ROOT } from './repository';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-modules-'));
  for (const name of ['.swcrc', 'tsconfig.json', 'package-lock.json']) {
    cpSync(join(ROOT, name), join(root, name));
  }
  for (const name of ['apps', 'libs', 'test', 'bench', 'validation', 'scripts'])
    mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text = ''): void => writeFileSync(join(root, path), text);

describe('the folder of compiled modules', () => {
  it('stays the same while only texts change, because a text is part of the name of its module', () => {
    write('libs/a.ts', '1');
    const folder = moduleCache(root);
    write('libs/a.ts', '2');
    expect(moduleCache(root)).toBe(folder);
  });

  it.each(['libs/b.ts', '.swcrc', 'tsconfig.json', 'package-lock.json'])(
    'is another one after a change of %s, which can change every module',
    (path) => {
      const folder = moduleCache(root);
      write(path);
      expect(moduleCache(root)).not.toBe(folder);
    },
  );

  it('is kept with the two that were used before', () => {
    const folders = [1, 2, 3, 4, 5].map((i) => {
      write(`test/${i}.ts`);
      return moduleCache(root);
    });
    const kept = readdirSync(dirname(folders[0]!));
    expect(kept).toHaveLength(3);
    expect(kept).toContain(basename(folders.at(-1)!));
  });
});
