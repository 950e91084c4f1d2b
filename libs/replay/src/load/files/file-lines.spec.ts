import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UsageError } from '@baton/config';
import { afterAll, describe, expect, it } from 'vitest';
import { readLines } from './file-lines';

const folder = mkdtempSync(join(tmpdir(), 'baton-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function linesOf(path: string, most = Infinity): Promise<[string, number][]> {
  const lines: [string, number][] = [];
  await readLines(path, {
    onLine: (line, lineNumber) => {
      lines.push([line, lineNumber]);
      return lines.length < most;
    },
  });
  return lines;
}

describe('readLines', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\nb\r\n', ['a', '', 'b\r']],
  ])('reads %j', async (content, expected) => {
    const numbered = expected.map((line, i) => [line, i + 1]);
    expect(await linesOf(file('small.txt', content))).toEqual(numbered);
    expect(await linesOf(file('small.txt.gz', gzipSync(content)))).toEqual(numbered);
  });

  it('reads long files with any characters, packed or not, and reports its progress', async () => {
    const lines = Array.from({ length: 60_000 }, (_none, i) => `${i} ${'äあ🙂'.repeat(i % 9)}`);
    const text = lines.join('\n');
    const path = file('long.txt', text);
    expect((await linesOf(path)).map(([line]) => line)).toEqual(lines);
    const packed = file('long.txt.gz', gzipSync(text));
    expect((await linesOf(packed)).map(([line]) => line)).toEqual(lines);
    const progress: [number, number][] = [];
    const onProgress = (done: number, total: number): number => progress.push([done, total]);
    await readLines(path, { onLine: () => true, onProgress });
    const size = Buffer.byteLength(text);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress.at(-1)).toEqual([size, size]);
  });

  it.each(['stop.txt', 'stop.txt.gz'])(
    'stops reading %s when the reader returns false',
    async (name) => {
      const text = 'line\n'.repeat(2_000_000);
      const path = file(name, name.endsWith('.gz') ? gzipSync(text) : text);
      expect(await linesOf(path, 3)).toHaveLength(3);
    },
  );

  it('passes on an error of the reader', async () => {
    const onLine = (): boolean => {
      throw new RangeError('enough');
    };
    await expect(readLines(file('throws.txt', 'a\n'), { onLine })).rejects.toThrow(RangeError);
  });

  it.each([
    ['missing.txt', undefined, /no such file/],
    ['not-packed.gz', 'plain text', /incorrect header/],
    ['cut.gz', gzipSync('x\n'.repeat(100_000)).subarray(0, 100), /unexpected end/],
  ])('explains why %s cannot be read', async (name, content, why) => {
    const path = content === undefined ? join(folder, name) : file(name, content);
    const attempt = linesOf(path);
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(why);
  });

  it('refuses a folder', async () => {
    await expect(linesOf(folder)).rejects.toThrow(UsageError);
  });
});
