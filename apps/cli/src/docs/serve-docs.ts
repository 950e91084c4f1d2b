import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { optionalFolder, UsageError } from '@baton/config';
import { Failure } from '@baton/kernel';
import { claimPort } from '@baton/supervisor';

const DONE = 0;
const FAILED = 1;
const PACKAGE = join('packages', 'docs-site');
const HOST = '127.0.0.1';
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Serves the guide on 127.0.0.1 until a signal ends it. Builds the guide if needed.
 *
 * @returns the exit code; a script that fails has already printed the reason
 * @throws UsageError for an invalid port, Failure for a taken port or a missing generator
 */
export async function serveDocs(port: string, mustBuild: boolean): Promise<number> {
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new UsageError(`--port ${port} is not a port. Use a number from 1 to 65535.`);
  }
  const server = join(optionalFolder('dist') ?? 'dist', 'serve-site.mjs');
  const build = mustBuild || !existsSync(server) ? [buildScript()] : [];
  // The first build takes minutes, so a port that is taken is refused before it.
  await claimPort({ host: HOST, port: Number(port) });
  for (const script of build) if (!(await isDone([script]))) return FAILED;
  process.stdout.write(`baton: the guide is at http://${HOST}:${port}/ (Ctrl-C ends it)\n`);
  return (await isDone([server, port])) ? DONE : FAILED;
}

/** @throws Failure outside of a checkout: a package holds the built guide alone */
function buildScript(): string {
  const folder = optionalFolder(PACKAGE);
  if (folder !== undefined) return join(folder, 'build.mjs');
  throw new Failure(`This installation has no ${PACKAGE}. Build the guide in a checkout.`);
}

/**
 * Runs a script of the generator. A signal to this process also ends the script.
 *
 * @returns whether the script ended well, or by that signal
 */
async function isDone(args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const forwards = SIGNALS.map((signal) => [signal, () => void child.kill(signal)] as const);
  for (const [signal, forward] of forwards) process.on(signal, forward);
  const { code, signal } = await waitForExit(child);
  for (const [name, forward] of forwards) process.off(name, forward);
  const isStopped = signal !== null && SIGNALS.some((name) => name === signal);
  return code === 0 || isStopped;
}

function waitForExit(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
