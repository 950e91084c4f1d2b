import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CacheUnusable } from './broker';
import { canFetch, fetchDebianServer, fetchNotice, type FetchOptions } from './debian-package';
import { resolveBroker } from './resolve-broker';

/** Answers like apt-get when one package is missing, and records its arguments. */
const APT = `
PATH=/usr/bin:/bin; echo "$@" >>"$0.log"
case "$*" in
  *--print-uris*) echo "'http://deb.invalid/r.deb' redis-server_7.deb 1 SHA256:0" ;;
  *download*) echo package >redis-server_7.deb ;;
  *) exit 100 ;;
esac`;
const APT_WITHOUT_NETWORK = `echo "$@" >>"$0.log"
echo "E: Could not resolve 'deb.invalid'" >&2; exit 100`;
/** Answers like apt-get without package lists, on a machine that reaches no mirror. */
const APT_WITHOUT_LISTS = `case "$*" in
  *Error-Mode=any*) echo 'E: Failed to fetch deb.invalid' >&2 ;;
  *) echo 'E: Unable to locate package redis-server' >&2 ;;
esac
echo 'E: Some index files failed to download.' >&2; exit 100`;
/** Unpacks a server that only prints its version. */
const DPKG = `PATH=/usr/bin:/bin
mkdir -p "$3/usr/bin"; printf '#!/bin/sh\\necho v7\\n' >"$3/usr/bin/redis-server"
chmod +x "$3/usr/bin/redis-server"`;

let folder: string;
let options: FetchOptions & { readonly cacheDirectory: string };
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-spec-'));
  const environment = { PATH: join(folder, 'bin') };
  options = { environment, cacheDirectory: join(folder, 'cache', 'redis') };
  await program('apt-get', APT);
  await program('dpkg', DPKG);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the package of the distribution', () => {
  it('is unpacked into the cache folder, and nothing is installed, root or not', async () => {
    expect(await canFetch(options.environment)).toBe(true);
    const outcome = await fetchDebianServer(options);
    const path = join(options.cacheDirectory, 'root', 'usr', 'bin', 'redis-server');
    expect(outcome).toMatchObject({ kind: 'fetched', program: { path } });
    const asked = (await readFile(join(folder, 'bin', 'apt-get.log'), 'utf8')).trim().split('\n');
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('install --print-uris');
    expect(asked[1]).toMatch(/download -qq redis-server$/);
    expect(await readdir(options.cacheDirectory)).toEqual(['root']);
  });

  it('replaces the remains of a start that was killed halfway', async () => {
    const { cacheDirectory } = options;
    const stale = [join('root', 'usr', 'bin', 'redis-server'), join('fetch-old', 'half.deb')];
    for (const path of stale) {
      await mkdir(dirname(join(cacheDirectory, path)), { recursive: true });
      await writeFile(join(cacheDirectory, path), 'half');
    }
    await utimes(join(cacheDirectory, 'fetch-old'), 0, 0);
    expect((await fetchDebianServer(options)).kind).toBe('fetched');
    expect(await readdir(cacheDirectory)).toEqual(['root']);
  });

  it('is fetched by several starts at once without interference', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => fetchDebianServer(options)));
    const path = join(options.cacheDirectory, 'root', 'usr', 'bin', 'redis-server');
    for (const outcome of outcomes) expect(outcome).toMatchObject({ program: { path } });
    expect(await readdir(options.cacheDirectory)).toEqual(['root']);
  });

  it('is announced with its folder and the way to avoid it', () => {
    const notice = fetchNotice(options);
    for (const said of ['redis-server', options.cacheDirectory, 'nothing is installed']) {
      expect(notice).toContain(said);
    }
    expect(notice).toMatch(/REDIS_URL .*BATON_INSTALL=never.* --broker in-process/);
  });

  it('falls back to one process with a message when there is no network', async () => {
    await program('apt-get', APT_WITHOUT_NETWORK);
    const lines: string[] = [];
    const broker = await resolveBroker(options, (line) => lines.push(line));
    expect(broker.kind).toBe('in-process');
    expect(lines[0]).toBe(fetchNotice(options));
    expect(lines[1]).toMatch(/Could not resolve 'deb.invalid'\); .*install redis-server or set/);
    expect(await readdir(options.cacheDirectory)).toEqual([]);
  });

  it('names the list that cannot be fetched, not the package that is missing in it', async () => {
    await program('apt-get', APT_WITHOUT_LISTS);
    const outcome = await fetchDebianServer(options);
    expect(outcome).toEqual({ kind: 'failed', why: 'E: Failed to fetch deb.invalid' });
  });

  it.each([{ mayInstall: false }, { isInProcess: true }])('is not fetched with %j', async (no) => {
    const broker = await resolveBroker({ ...options, ...no }, () => undefined);
    expect(broker.kind).toBe('in-process');
    expect(existsSync(join(folder, 'bin', 'apt-get.log'))).toBe(false);
  });

  it('is refused before apt runs when the cache folder is unusable', async () => {
    await writeFile(join(folder, 'cache'), '');
    const resolving = resolveBroker(options, () => undefined);
    await expect(resolving).rejects.toThrow(CacheUnusable);
    await expect(resolving).rejects.toThrow(/\(ENOTDIR\): .*XDG_CACHE_HOME.*--broker in-process/);
    expect(existsSync(join(folder, 'bin', 'apt-get.log'))).toBe(false);
  });

  it('is refused before apt runs when the disk is almost full', async () => {
    const fetching = fetchDebianServer({ ...options, leastFreeBytes: 2 ** 60 });
    await expect(fetching).rejects.toThrow(/MiB are free\): name a folder with free space/);
    expect(existsSync(join(folder, 'bin', 'apt-get.log'))).toBe(false);
  });
});

async function program(name: string, body: string): Promise<void> {
  const path = join(folder, 'bin', name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}
