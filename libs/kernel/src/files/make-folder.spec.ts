import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder';

describe('a folder for data', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'baton-folder-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is made with those above it, and may exist', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    expect(existsSync(path)).toBe(true);
  });

  it('is refused below a file', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file', 'a', 'b'))).toThrow(/ENOTDIR/);
  });

  it('is refused at once where the system accepts none', () => {
    expect(() => makeFolder('/proc/baton-none/steps')).toThrow(/ENOENT|EACCES|EPERM/);
  });
});
