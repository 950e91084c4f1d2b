import type { OperatorSource, TabulatedStep } from '@baton/step-time';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorFiles } from './operator-files';

const STEP = { head: { at: [1, 2], us: [3, 4.5] } } as unknown as TabulatedStep;

describe('the cache of tabulated steps', () => {
  let folder: string;
  let files = 0;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-steps-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Another folder name, so that the memory cache of this process does not hide the disk. */
  function asOther(cache: string): OperatorSource {
    const moved = join(folder, `other-${(files += 1)}`);
    mkdirSync(moved);
    for (const name of readdirSync(cache)) {
      writeFileSync(join(moved, name), readFileSync(join(cache, name)));
    }
    return operatorFiles({ cache: moved });
  }

  it('returns steps only under their own key, and leaves no drafts', () => {
    const cache = join(folder, 'steps');
    operatorFiles({ cache }).keep('a', STEP);
    expect(readdirSync(cache)).toHaveLength(1);
    const other = asOther(cache);
    expect(other.cached('a')).toEqual(STEP);
    expect(other.cached('b')).toBeUndefined();
  });

  it.each([
    ['was cut', (text: string) => text.slice(0, -10)],
    ['was changed', (text: string) => text.replace('4.5', '4.6')],
    ['is of another key', (text: string) => text.replace('"key":"a', '"key":"z')],
    ['is empty', () => ''],
  ])('ignores a file that %s', (_name, spoilt) => {
    const cache = join(folder, 'steps');
    operatorFiles({ cache }).keep('a', STEP);
    const file = join(cache, readdirSync(cache)[0]!);
    writeFileSync(file, spoilt(readFileSync(file, 'utf8')));
    expect(asOther(cache).cached('a')).toBeUndefined();
  });

  it('works without a folder that cannot be created', () => {
    const blocked = join(folder, 'file');
    writeFileSync(blocked, '');
    chmodSync(blocked, 0o400);
    const source = operatorFiles({ cache: join(blocked, 'steps') });
    expect(() => source.keep('a', STEP)).not.toThrow();
    expect(source.cached('a')).toEqual(STEP);
  });

  it('works below a folder that accepts none, at once', () => {
    const source = operatorFiles({ cache: '/proc/baton-none/steps' });
    expect(() => source.keep('a', STEP)).not.toThrow();
    expect(source.cached('a')).toEqual(STEP);
  });

  it('drops the oldest files when there are many', () => {
    const cache = join(folder, 'steps');
    mkdirSync(cache);
    for (let i = 0; i < 300; i++) {
      const file = join(cache, `${i}.json`);
      writeFileSync(file, '');
      utimesSync(file, i + 1, i + 1);
    }
    operatorFiles({ cache }).keep('a', STEP);
    const left = readdirSync(cache);
    expect(left).toHaveLength(256);
    expect(left).toContain('299.json');
    expect(left).not.toContain('44.json');
    expect(asOther(cache).cached('a')).toEqual(STEP);
  });
});
