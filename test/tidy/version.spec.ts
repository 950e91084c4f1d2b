import { join } from 'node:path';
import { VERSION } from '@baton/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import { allFiles, isCode, read, readJson, ROOT } from './repository';

const { version } = readJson('package.json') as { version: string };

let statedAt: Readonly<Record<string, RegExp>> = {};
beforeAll(async () => {
  const module = (await import(join(ROOT, 'scripts/stated-versions.mjs'))) as {
    STATED_AT: typeof statedAt;
  };
  statedAt = module.STATED_AT;
});

describe('the address of the repository', () => {
  it('is named in package.json alone', () => {
    const { repository } = readJson('package.json') as { repository: { url: string } };
    const address = repository.url.replace(/^git\+https:\/\//, '').replace(/\.git$/, '');
    expect(address).toMatch(/^[\w.-]+\/[\w.-]+\/[\w.-]+$/);
    const texts = allFiles().filter((path) => isCode(path) || /\.(md|json|ya?ml|toml)$/.test(path));
    expect(texts.filter((path) => read(path).includes(address))).toEqual(['package.json']);
  });
});

describe('the version of package.json', () => {
  it('is that of every program, of the Python package and of the images (npm version)', () => {
    const stated = Object.entries(statedAt).map(([path, pattern]) => [
      path,
      pattern.exec(read(path))?.[0],
    ]);
    expect(stated.length).toBeGreaterThan(2);
    expect(stated).toEqual(Object.keys(statedAt).map((path) => [path, version]));
    expect(VERSION).toBe(version);
  });

  it('is that of the lock file', () => {
    const lock = readJson('package-lock.json') as {
      version: string;
      packages: Record<string, { version?: string }>;
    };
    expect([lock.version, lock.packages['']?.version]).toEqual([version, version]);
  });

  it('has a part in the changelog', () => {
    expect(read('CHANGELOG.md').split('\n')).toContainEqual(
      expect.stringContaining(`## [${version}]`),
    );
  });
});
