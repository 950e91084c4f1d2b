import { optionalFolder } from '@baton/config';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkLlamacpp } from './local-server';

describe('the requirements of executor llamacpp', () => {
  let checkout: string;
  let folder: string;

  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'baton-llamacpp-'));
    folder = join(checkout, 'packages', 'llamacpp');
    mkdirSync(folder, { recursive: true });
  });

  afterEach(() => rmSync(checkout, { recursive: true }));

  function write(path: string): string {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    return file;
  }

  const config = (llamacppModel?: string) =>
    ({ llamacppModel, upstreamKvConnector: 'nixl' }) as const;
  const install = (): string => write('node_modules/node-llama-cpp/package.json');

  it('are reported in one sentence with the command that installs them', () => {
    const setup = relative('', join(folder, 'setup.mjs'));
    expect(() => checkLlamacpp(config(), checkout)).toThrow(
      `executor llamacpp needs the optional package: run \`node ${setup}\` first, which ` +
        'installs it.',
    );
  });

  it('include a checkout, because an installed Baton has no packages', () => {
    rmSync(join(checkout, 'packages'), { recursive: true });
    expect(() => checkLlamacpp(config(), checkout)).toThrow(
      'executor llamacpp needs a checkout of Baton: this installation has no packages/llamacpp.',
    );
  });

  it('include a model: the named one, or the generated one', () => {
    install();
    expect(() => checkLlamacpp(config(), checkout)).toThrow(/random weights/);
    const missing = join(folder, 'none.gguf');
    expect(() => checkLlamacpp(config(missing), checkout)).toThrow(/there is no file/);
  });

  it('include its only connector', () => {
    install();
    const push = { llamacppModel: write('named.gguf'), upstreamKvConnector: 'nixl-push' } as const;
    expect(() => checkLlamacpp(push, checkout)).toThrow(/hands over as nixl does/);
  });

  it('are met once both exist', () => {
    install();
    const named = write('named.gguf');
    expect(() => checkLlamacpp(config(named), checkout)).not.toThrow();
    write('.baton/random-29m.gguf');
    expect(() => checkLlamacpp(config(), checkout)).not.toThrow();
  });
});

describe('packages/llamacpp', () => {
  it('passes those of its own tests that run without an installation', () => {
    const folder = join(optionalFolder('packages/llamacpp') ?? '', 'test');
    const files = readdirSync(folder).map((file) => join(folder, file));
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--test', ...files], {
      encoding: 'utf8',
    });
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({
      status: 0,
      output: '',
    });
  });
});
