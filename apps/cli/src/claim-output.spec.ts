import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '@baton/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cannotWrite, claimFile, claimFolder } from './claim-output';
import { runCommand } from '../test/test-command';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-claim-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the output folder', () => {
  it('is created, and stays empty', () => {
    const path = join(folder, 'a', 'b');
    claimFolder(path, '--out');
    claimFolder(path, '--out');
    expect(readdirSync(path)).toEqual([]);
    claimFolder(undefined, '--out');
  });

  it('is created for a single file', () => {
    claimFile(join(folder, 'a', 'b', 'profile.yaml'), '--out');
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual([]);
  });

  it('keeps an existing file', () => {
    const [old, fresh] = [join(folder, 'old'), join(folder, 'new')];
    writeFileSync(old, 'old');
    for (const path of [old, fresh, undefined]) claimFile(path, '--out');
    expect(readFileSync(old, 'utf8')).toBe('old');
    expect(existsSync(fresh)).toBe(false);
  });

  it.each(['file', join('file', 'below')])('is refused at %s, which is not a folder', (name) => {
    writeFileSync(join(folder, 'file'), '');
    const claim = (): void => claimFolder(join(folder, name), '--out');
    expect(claim).toThrow(Failure);
    expect(claim).toThrow(
      /^--out .* cannot be written \(E[A-Z]+: [a-z ]+\)\. Choose a writable folder/,
    );
  });

  it('is refused where the system allows no folders, without a hang', () => {
    expect(() => claimFolder('/proc/baton/x', '--out')).toThrow(/cannot be written \(E/);
    expect(() => claimFile('/proc/baton', '--out')).toThrow(/cannot be written \(E/);
  });

  it('reports the error of a full disk', () => {
    let sentence = '';
    try {
      writeFileSync('/dev/full', 'x');
    } catch (error) {
      sentence = cannotWrite('--out x', error).message;
    }
    expect(sentence).toContain('(ENOSPC: no space left on device). Choose a writable folder');
  });
});

const GRID = join(import.meta.dirname, '..', '..', '..', 'package.json');

describe('a command whose results cannot be written', () => {
  it.each([
    ['replay', '--dataset', 'random', '--num-prompts', '50000'],
    ['plan', '--dataset', 'random', '--num-prompts', '50000', '--gpus', '4', '--slo', 'ttft=1s'],
    ['bench', '--base-url', 'http://127.0.0.1:9', '--dataset', 'random'],
    ['demo'],
    ['calibrate', '--input', GRID],
    ['calibrate', '--live', '--base-url', 'http://127.0.0.1:9'],
  ])('%s ends with one sentence before it begins', async (...args) => {
    const { exitCode, stdout, stderr } = await runCommand(...args, '--out', '/proc/baton/x');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^baton: --out \/proc\/baton\/x cannot be written \(E[^\n]+\n$/);
  });

  it.each([
    [
      ...['bench', '--base-url', 'http://127.0.0.1:9', '--dataset', 'random'],
      ...['--save-result', '--result-dir'],
    ],
    ['calibrate', '--live', '--base-url', 'http://127.0.0.1:9', '--save-points'],
  ])('%s %s refuses its other outputs in the same way', async (...args) => {
    const { exitCode, stderr } = await runCommand(...args, '/proc/baton/x');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^baton: --[a-z-]+ \/proc\/baton\/x cannot be written \(E[^\n]+\n$/);
  });
});
