// Builds the wheel of the Python package, in an environment that the tests share.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../scripts/pypi.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/python', import.meta.url));
const OUT = join(HERE, 'dist');

/** @returns the path of the wheel, and of a Python with its dependencies @throws Error */
export function buildWheel() {
  mkdirSync(CACHE, { recursive: true });
  const programs = join(CACHE, 'venv', 'bin');
  installPackages(join(CACHE, 'venv'), join(HERE, 'requirements.txt'));
  rmSync(OUT, { recursive: true, force: true });
  const pip = ['wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', OUT, HERE];
  execFileSync(join(programs, 'pip'), pip, { stdio: ['ignore', 'ignore', 'inherit'] });
  return { wheel: join(OUT, readdirSync(OUT)[0]), python: join(programs, 'python') };
}
