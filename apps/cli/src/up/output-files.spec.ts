import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '@baton/config';
import { recordingHeaderLine } from '@baton/workload';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clearOutputFiles } from './output-files';

/** Higher than any pid of a kernel. */
const NOBODY = 2 ** 30;

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-output-'));
  path = join(folder, 'run.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function headerOf(pid: number, host = hostname()): string {
  return `${recordingHeaderLine({ version: '0', startedUs: 0, host, pid, config: {} })}\n{}\n`;
}

describe('the files of a new cluster', () => {
  it.each([
    ['an earlier run recorded', { record: true }, headerOf(NOBODY)],
    ['an earlier run logged', { logSteps: true }, '{"step_ms":1,"decode_seqs":2}\n'],
    ['nobody wrote anything into', { record: true }, ''],
  ])('replace one that %s', (_what, option, content) => {
    writeFileSync(path, content);
    const [name = ''] = Object.keys(option);
    clearOutputFiles(defaultConfig({ [name]: path }));
    expect(existsSync(path)).toBe(false);
  });

  it.each([headerOf(process.pid), headerOf(NOBODY, 'another machine')])(
    'keep one that may still be open: %s',
    (content) => {
      writeFileSync(path, content);
      clearOutputFiles(defaultConfig({ record: path }));
      expect(readFileSync(path, 'utf8')).toBe(content);
    },
  );

  it.each([
    ['record', '--record', 'topology: 2P2D\n'],
    ['record', '--record', '{"baton_recording":7}\n'],
    ['logSteps', '--log-steps', headerOf(NOBODY)],
  ])('never replace other files (%s)', (name, flag, content) => {
    writeFileSync(path, content);
    const clearing = (): void => clearOutputFiles(defaultConfig({ [name]: path }));
    expect(clearing).toThrow(`${flag} ${path}: the file exists and is not a log of this kind`);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it.each(['/dev/null', tmpdir()])('cannot be devices or folders: %s', (name) => {
    expect(() => clearOutputFiles(defaultConfig({ record: name }))).toThrow(
      'not a log of this kind',
    );
    expect(existsSync(name)).toBe(true);
  });

  it('get a folder', () => {
    clearOutputFiles(defaultConfig({ record: join(folder, 'out', 'run.jsonl') }));
    expect(readdirSync(join(folder, 'out'))).toEqual([]);
  });

  it('are refused in an unwritable folder', () => {
    writeFileSync(path, '');
    const config = defaultConfig({ record: join(path, 'run.jsonl') });
    expect(() => clearOutputFiles(config)).toThrow(/cannot be written: E(NOTDIR|EXIST)/);
  });
});
