import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { optionalFolder, UsageError } from '@baton/config';
import { Failure } from '@baton/kernel';

const PACKAGE = join('packages', 'docs-site');
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Serves the guide on 127.0.0.1 until a signal ends it. Builds the guide if needed.
 *
 * @throws UsageError for an invalid port, Failure when the generator is missing or fails
 */
export async function serveDocs(port: string, mustBuild: boolean): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new UsageError(`--port ${port} is not a port. Use a number from 1 to 65535.`);
  }
  const folder = optionalFolder(PACKAGE);
  if (folder === undefined) {
    throw new Failure(`This installation has no ${PACKAGE}. Run baton docs in a checkout.`);
  }
  const site = join(dirname(dirname(folder)), 'dist', 'site', 'index.html');
  if (mustBuild || !existsSync(site)) await runToEnd([join(folder, 'build.mjs')]);
  process.stdout.write(`baton: the guide is at http://127.0.0.1:${port}/ (Ctrl-C ends it)\n`);
  await runToEnd([join(folder, 'serve.mjs'), port]);
}

/** Runs a script of the generator. A signal to this process also ends the script. */
async function runToEnd(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const forwards = SIGNALS.map((signal) => [signal, () => void child.kill(signal)] as const);
  for (const [signal, forward] of forwards) process.on(signal, forward);
  const { code, signal } = await endOf(child);
  for (const [name, forward] of forwards) process.off(name, forward);
  const isAsked = signal !== null && SIGNALS.some((name) => name === signal);
  if (code !== 0 && !isAsked) throw new Failure('The guide cannot be built or served.');
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
