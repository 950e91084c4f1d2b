import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const PROGRAMS = ['redis-server', 'redis-cli'];

/**
 * Vitest calls this once before all tests. They start `redis-server` by its name, so where PATH has
 * none, Redis is obtained as `npm start` does it and PATH gets a folder with the programs.
 *
 * @returns a function that removes that folder
 */
export async function setup(): Promise<() => void> {
  if (PROGRAMS.every(isOnPath)) return () => undefined;
  const { resolveBroker } = await import('@baton/transport');
  const broker = await resolveBroker({}, (line) => process.stdout.write(`${line}\n`));
  await broker.close();
  if (PROGRAMS.every(isOnPath)) return () => undefined;
  const [, server = ''] = /private (\S+) \(/.exec(broker.line) ?? [];
  if (!existsSync(server)) throw new Error(`The tests need a redis-server: ${broker.line}`);
  const folder = mkdtempSync(join(tmpdir(), 'baton-programs-'));
  writeLaunchers(folder, server);
  process.env['PATH'] = [folder, process.env['PATH']].join(delimiter);
  return () => rmSync(folder, { recursive: true });
}

/** An unpacked program needs the path of the libraries that were unpacked with it. */
function writeLaunchers(folder: string, server: string): void {
  const programs = dirname(server);
  const root = dirname(dirname(programs));
  for (const name of PROGRAMS) {
    const source = name === 'redis-server' ? server : join(programs, name);
    const libraries = `$(echo "${root}"/usr/lib/* "${root}"/lib/* | tr ' ' ':')`;
    const script = `#!/bin/sh\nLD_LIBRARY_PATH=${libraries} exec "${source}" "$@"\n`;
    writeFileSync(join(folder, name), script);
    chmodSync(join(folder, name), 0o755);
  }
}

function isOnPath(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}
