// The way of one streamed chat of four tokens: the functions of the product that it enters.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../root.mjs';

/**
 * V8 counts no calls of functions that it has inlined, whose bytecode it has dropped, or that it
 * runs for the first time.
 */
const EXACT = ['--no-flush-bytecode', '--no-lazy-feedback-allocation', '--no-opt'];
const RUNNER = fileURLToPath(new URL('./chat-run.mjs', import.meta.url));

/**
 * `[{ file, name }]`, one per entered function, from a build of the checkout in a temporary folder.
 * @throws Error with the cause
 */
export function chatOf(root) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-house-'));
  try {
    // The compiled code looks for packages and data in the folders above it.
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(join(root, 'data'), join(folder, 'data'));
    const build = join(folder, 'dist');
    const ignored = ['--ignore', '**/*.spec.ts', '--ignore', 'apps/ui/**'];
    output(
      join(ROOT, 'node_modules/.bin/swc'),
      ['apps', 'libs', '-d', build, ...ignored, '-q'],
      root,
    );
    const printed = output(process.execPath, [...EXACT, RUNNER, build], root);
    return JSON.parse(printed.split('\n').at(-1));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function output(command, words, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: 240_000,
  });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
  return stdout.trim();
}
