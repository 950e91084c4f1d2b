// Fetches the proxies of other projects, once, into a folder outside of the repository.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, unpackSource } from '../../../scripts/pypi.mjs';
import { VLLM_FILES } from './proxies.mjs';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/their-proxies', import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const VLLM = {
  project: 'vllm',
  version: '0.33.0',
  sha256: 'f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112',
  paths: Object.values(VLLM_FILES),
};

/** @returns where programs (`bin`) and files of vLLM (`file`) are @throws Error in one sentence */
export async function installed() {
  mkdirSync(CACHE, { recursive: true });
  const venv = join(CACHE, 'venv');
  installPackages(venv, REQUIREMENTS);
  const source = await unpackSource(CACHE, VLLM);
  return {
    bin: (name) => join(venv, 'bin', name),
    file: (key) => join(source, VLLM_FILES[key]),
  };
}
