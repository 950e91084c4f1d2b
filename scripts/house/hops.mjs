// The path of one streamed chat of 4 tokens: the number of files and functions of the product that
// it enters.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../root.mjs';

/** As deep in the tree as dist, so that the code finds its data. Git ignores it. */
const BUILD = 'coverage';
/**
 * V8 counts no calls of functions that it has inlined, whose bytecode it has dropped, or that it
 * runs for the first time.
 */
const EXACT = ['--no-flush-bytecode', '--no-lazy-feedback-allocation', '--no-opt'];
const RUNNER = fileURLToPath(new URL('./hops-run.mjs', import.meta.url));

/** Compiles a checkout and counts in a separate process. @throws Error with the cause */
export function hopsOf(root) {
  const build = resolve(root, BUILD);
  try {
    const swc = join(ROOT, 'node_modules/.bin/swc');
    const ignored = ['--ignore', '**/*.spec.ts', '--ignore', 'apps/ui/**'];
    output(swc, ['apps', 'libs', '-d', BUILD, ...ignored, '-q'], root);
    return JSON.parse(
      output(process.execPath, [...EXACT, RUNNER, build], root)
        .split('\n')
        .at(-1),
    );
  } finally {
    if (existsSync(build)) rmSync(build, { recursive: true });
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
