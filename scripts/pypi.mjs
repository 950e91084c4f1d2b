/* global AbortSignal */
// Fetches packages from PyPI, once, into a folder outside of the repository.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FETCH_MS = 300_000;

/**
 * A virtual environment with the packages of the file. It is recreated when the file has changed.
 */
export function installPackages(venv, requirements) {
  const wanted = readFileSync(requirements, 'utf8');
  const stamp = join(venv, 'installed.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Installing Python packages …\n');
  rmSync(venv, { recursive: true, force: true });
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('python3', ['-m', 'venv', venv], quiet);
  execFileSync(
    join(venv, 'bin', 'pip'),
    ['install', '--quiet', '--no-compile', '-r', requirements],
    quiet,
  );
  writeFileSync(stamp, wanted);
}

/**
 * Unpacks files and folders of a source distribution into `cache/<project>-<version>`.
 *
 * @returns that folder @throws Error in one sentence
 */
export async function unpackSource(cache, { project, version, sha256, paths }) {
  const name = `${project}-${version}`;
  const folder = join(cache, name);
  if (paths.every((path) => existsSync(join(folder, path)))) return folder;
  mkdirSync(cache, { recursive: true });
  const archive = join(cache, `${name}.tar.gz`);
  process.stderr.write(`Fetching ${name}.tar.gz …\n`);
  const bytes = await fetched(await sourceUrl(project, name));
  const sum = createHash('sha256').update(bytes).digest('hex');
  if (sum !== sha256) throw new Error(`${name}.tar.gz has the wrong checksum: ${sum}`);
  writeFileSync(`${archive}.part`, bytes);
  renameSync(`${archive}.part`, archive);
  execFileSync('tar', ['-xzf', archive, '-C', cache, ...paths.map((path) => join(name, path))]);
  rmSync(archive);
  return folder;
}

/** The address in the package index: `PIP_INDEX_URL`, else PyPI. */
async function sourceUrl(project, name) {
  const index = `${process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple'}/${project}/`;
  const page = (await fetched(index)).toString();
  const [, href] = new RegExp(`href="([^"]*${name}\\.tar\\.gz)[#"]`).exec(page) ?? [];
  if (href === undefined) throw new Error(`${index} has no ${name}.tar.gz`);
  return new URL(href, index);
}

async function fetched(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
