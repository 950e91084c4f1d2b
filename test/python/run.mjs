// The Python package as its users have it: the wheel is built, installed and tested on bin/baton.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildWheel } from '../../packages/python/wheel.mjs';

const SUITE = fileURLToPath(new URL('suite.py', import.meta.url));
const BATON_BIN = fileURLToPath(new URL('../../bin/baton', import.meta.url));

const { wheel, python } = buildWheel();
const again = ['--force-reinstall', '--no-deps', '--no-index'];
execFileSync(python, ['-m', 'pip', 'install', '--quiet', ...again, wheel], { stdio: 'inherit' });
// -I: the folders of this repository are not on the path of modules.
const { status } = spawnSync(python, ['-I', SUITE], {
  env: { ...process.env, BATON_BIN },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
