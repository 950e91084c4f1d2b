import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '@baton/kernel';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUNDLES = join(ROOT, 'dist', 'bundles');
const RUN = join(ROOT, 'bin', 'run-bundle.cjs');
/** Of processes that the supervisor starts. */
const FLAGS = ['--require', join(ROOT, 'dist/libs/supervisor/src/warm-up.js')];

describe('the bundles of the build', () => {
  it.each([
    ['commands', []],
    ['processes', FLAGS],
  ])('let V8 take its compiled code of the %s', (name, flags) => {
    expect(isRefused(join(BUNDLES, `${name}.js`), flags)).toBe('false');
  });

  it('run in place of the separate files', () => {
    for (const app of ['api', 'prefill', 'decode', 'cli']) {
      const main = readFileSync(join(ROOT, 'dist/apps', app, 'src/main.js'), 'utf8');
      expect(main).toContain('runBundle');
    }
  });

  it('draw an image with a library that only import() loads', () => {
    const out = join(mkdtempSync(join(tmpdir(), 'bundle-')), 'steps.svg');
    const deployment = ['--model', 'llama-3.1-8b', '--gpu', 'a100', '--step-time', 'calibrated'];
    const baton = join(ROOT, 'bin', 'baton');
    expect(node(baton, 'profiles', 'plot', ...deployment, '--out', out)).toBe(`wrote ${out}\n`);
    expect(readFileSync(out, 'utf8')).toMatch(/^<svg [^]*<\/svg>\n$/);
  });

  it('run without compiled code, and with code that is cut off', () => {
    const copy = join(mkdtempSync(join(tmpdir(), 'bundle-')), 'commands.js');
    copyFileSync(join(BUNDLES, 'commands.js'), copy);
    expect(isRefused(copy)).toBe('undefined');
    expect(version(copy)).toBe(`${VERSION}\n`);
    const code = readFileSync(join(BUNDLES, 'commands.js.code'));
    writeFileSync(`${copy}.code`, code.subarray(0, code.length / 2));
    expect(isRefused(copy)).toBe('true');
    expect(version(copy)).toBe(`${VERSION}\n`);
  });
});

/** Whether V8 refuses the compiled code of a bundle; `undefined` where there is none. */
function isRefused(bundle: string, flags: readonly string[] = []): string {
  const script = `require(${JSON.stringify(RUN)}).scriptOf(${JSON.stringify(bundle)})`;
  return node(...flags, '-p', `${script}.cachedDataRejected`).trim();
}

function version(bundle: string): string {
  const main = 'apps/cli/src/main.js';
  const run = `require(${JSON.stringify(RUN)}).runBundle(${JSON.stringify(bundle)}, '${main}')`;
  return node('-e', run, '--', 'baton', '--version');
}

/** What Node prints. */
function node(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}
