import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFile } from './line-file';
import { createLogger } from './logger';

const SILENT = createLogger({ name: 'test', level: 'silent' });

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-lines-'));
  path = join(folder, 'lines');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function opened(file = path, log = SILENT): Promise<LineFile> {
  return (await LineFile.open(file, 'append', log))!;
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n');

describe('a file of lines', () => {
  it('has every line, in order, when it is closed', async () => {
    const file = await opened();
    const lines = Array.from({ length: 50_000 }, (_none, i) => `line ${i}`);
    for (const line of lines) file.add(line);
    await file.close();
    expect(linesOf(path)).toEqual([...lines, '']);
  });

  it('takes the lines of two writers without mixing them', async () => {
    const writers = await Promise.all([opened(), opened()]);
    const long = (letter: string): string => letter.repeat(3_000);
    for (let i = 0; i < 500; i++) writers.forEach((file, w) => file.add(long('ab'[w]!)));
    await Promise.all(writers.map((file) => file.close()));
    const lines = linesOf(path).slice(0, -1).sort();
    expect(lines).toEqual([...Array(500).fill(long('a')), ...Array(500).fill(long('b'))]);
  });

  it('is not opened as new when it exists', async () => {
    const first = await LineFile.open(path, 'new', SILENT);
    expect(await LineFile.open(path, 'new', SILENT)).toBeUndefined();
    await first!.close();
  });

  it('leaves out lines beyond its memory limit, and reports their number', async () => {
    const said: Record<string, unknown>[] = [];
    const sink = new Writable({
      write: (text, _encoding, done) => {
        said.push(JSON.parse(String(text)) as Record<string, unknown>);
        done();
      },
    });
    const file = await opened(path, pino({}, sink));
    const line = 'x'.repeat(1 << 20);
    for (let i = 0; i < 40; i++) file.add(line);
    await file.close();
    const written = linesOf(path).length - 1;
    expect(written).toBeGreaterThanOrEqual(30);
    expect(said).toMatchObject([
      { msg: 'the disk does not keep up: lines are left out' },
      { msg: 'lines left out', lines: 40 - written },
    ]);
  });

  it('ends its writing, and nothing else, when the disk is full', async () => {
    expect(existsSync('/dev/full')).toBe(true);
    const said: string[] = [];
    const sink = new Writable({
      write: (text, _encoding, done) => {
        said.push(String(text));
        done();
      },
    });
    const file = await opened('/dev/full', pino({}, sink));
    file.add('one');
    await file.close();
    expect(said).toHaveLength(1);
    expect(JSON.parse(said[0]!)).toMatchObject({
      msg: 'the file cannot be written any more',
      file: '/dev/full',
      reason: 'ENOSPC: no space left on device',
    });
    expect(said[0]).not.toContain('stack');
  });
});
