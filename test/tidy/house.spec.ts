import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@baton/kernel';
import { describe, expect, it } from 'vitest';
import { foldersIn, read, readJson, ROOT } from './repository';

const MAIN_LINES = 40;

const libs = foldersIn('libs');
const apps = foldersIn('apps');

function lines(path: string): number {
  return read(path).trimEnd().split('\n').length;
}

describe('the house', () => {
  it.each(libs)('libs/%s has one door and a README', (lib) => {
    expect(existsSync(join(ROOT, 'libs', lib, 'src/index.ts'))).toBe(true);
    expect(existsSync(join(ROOT, 'libs', lib, 'README.md'))).toBe(true);
  });

  it.each(apps)('apps/%s starts in a main.ts without logic', (app) => {
    expect(lines(`apps/${app}/src/main.ts`)).toBeLessThanOrEqual(MAIN_LINES);
  });

  it('uses Nest on Fastify, BullMQ and ioredis', () => {
    const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> };
    const needed = ['@nestjs/core', '@nestjs/platform-fastify', 'bullmq', 'ioredis', 'prom-client'];
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(needed));
  });

  it('prints the version of the manifest', () => {
    expect(VERSION).toBe((readJson('package.json') as { version: string }).version);
  });

  it('keeps download addresses out of the lock file', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved"/);
  });
});
