/* global AbortSignal */
// Fetches what others publish, once, into a folder that is no part of the repository.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VLLM_FILES } from './proxies.mjs';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/their-proxies', import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const SOURCE = 'vllm-0.33.0';
const SHA256 = 'f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112';
const FETCH_MS = 300_000;

/** @returns where programs (`bin`) and files of vLLM (`file`) are @throws Error in one sentence */
export async function installed() {
  mkdirSync(CACHE, { recursive: true });
  const venv = join(CACHE, 'venv');
  installPackages(venv);
  const files = Object.values(VLLM_FILES).map((path) => join(SOURCE, path));
  if (!files.every((path) => existsSync(join(CACHE, path)))) await unpackSource(files);
  return {
    bin: (name) => join(venv, 'bin', name),
    file: (key) => join(CACHE, SOURCE, VLLM_FILES[key]),
  };
}

function installPackages(venv) {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  const stamp = join(venv, 'installed.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Installing Python packages …\n');
  rmSync(venv, { recursive: true, force: true });
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('python3', ['-m', 'venv', venv], quiet);
  execFileSync(join(venv, 'bin', 'pip'), ['install', '--quiet', '-r', REQUIREMENTS], quiet);
  writeFileSync(stamp, wanted);
}

async function unpackSource(files) {
  const archive = join(CACHE, `${SOURCE}.tar.gz`);
  process.stderr.write(`Fetching ${SOURCE}.tar.gz (47 MB) …\n`);
  const bytes = await fetched(await sourceUrl());
  const sum = createHash('sha256').update(bytes).digest('hex');
  if (sum !== SHA256) throw new Error(`${SOURCE}.tar.gz has the wrong checksum: ${sum}`);
  writeFileSync(`${archive}.part`, bytes);
  renameSync(`${archive}.part`, archive);
  execFileSync('tar', ['-xzf', archive, '-C', CACHE, ...files]);
  rmSync(archive);
}

/** As the package index names it: `PIP_INDEX_URL`, else PyPI. */
async function sourceUrl() {
  const index = `${process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple'}/vllm/`;
  const page = (await fetched(index)).toString();
  const [, href] = new RegExp(`href="([^"]*${SOURCE}\\.tar\\.gz)[#"]`).exec(page) ?? [];
  if (href === undefined) throw new Error(`${index} has no ${SOURCE}.tar.gz`);
  return new URL(href, index);
}

async function fetched(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
