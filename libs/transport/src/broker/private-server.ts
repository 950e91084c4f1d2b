import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProgram } from './broker';

const START_DEADLINE_MS = 5_000;
const END_DEADLINE_MS = 2_000;

/**
 * A shell that keeps the server alive for as long as its own standard input is open, i.e. as long
 * as the process that holds the other end of the pipe lives: the kernel closes it however that
 * process ends. Then it kills the server, which has nothing to save, and removes the run directory.
 * A server that dies by itself is restarted on the same socket, unless it was never ready. The
 * shell needs no file to kill the server, because the disk may be full.
 */
const WATCHDOG = `
run=$1; shift
exec 3<&0
ended= server=
trap 'ended=1; [ -z "$server" ] || kill -9 "$server" 2>/dev/null' USR1
(cat <&3 >/dev/null; kill -USR1 $$) &
until [ "$ended" ]; do
  "$@" </dev/null >>"$run/server.log" 2>&1 3<&- &
  server=$!
  [ -z "$ended" ] || kill -9 "$server"
  wait "$server"
  [ -e "$run/ready" ] || exit 1
  [ "$ended" ] || sleep 0.3
done
rm -rf "$run"
`;

export interface PrivateServer {
  readonly socketPath: string;
  close(): Promise<void>;
}

export type StartOutcome =
  | { readonly kind: 'started'; readonly server: PrivateServer }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Starts a private server in a new run directory: no port, no persistence, and a memory limit that
 * refuses writes instead of evicting.
 */
export async function startPrivateServer(
  program: ServerProgram,
  maxMemoryBytes: number,
): Promise<StartOutcome> {
  const run = await runFolder();
  if (run === undefined) {
    return { kind: 'failed', why: `${tmpdir()} cannot be written, or is full (see TMPDIR)` };
  }
  const socketPath = join(run, 'redis.sock');
  const command = [program.path, ...serverOptions(run, socketPath, maxMemoryBytes)];
  const watchdog = spawn('sh', ['-c', WATCHDOG, 'baton-broker', run, ...command], {
    // A separate session, because Ctrl-C in a terminal must not end the server before processes
    // that still drain.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, ...libraryPath(program) },
  });
  const close = (): Promise<void> => end(watchdog, run);
  if ((await answersWithin(socketPath, watchdog)) && (await isMade(join(run, 'ready')))) {
    watchdog.unref();
    (watchdog.stdin as Socket | null)?.unref();
    return { kind: 'started', server: { socketPath, close } };
  }
  const why = await lastWords(join(run, 'server.log'));
  await close();
  return { kind: 'failed', why };
}

/**
 * A folder outside of the project, because the path of a unix socket is limited to about 100
 * characters. Undefined when no folder can be used.
 */
function runFolder(): Promise<string | undefined> {
  return mkdtemp(join(tmpdir(), 'baton-')).catch(() => undefined);
}

function isMade(path: string): Promise<boolean> {
  return writeFile(path, '').then(
    () => true,
    () => false,
  );
}

function serverOptions(run: string, socketPath: string, maxMemoryBytes: number): string[] {
  const options = {
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    save: '',
    appendonly: 'no',
    maxmemory: String(maxMemoryBytes),
    'maxmemory-policy': 'noeviction',
    dir: run,
    loglevel: 'warning',
    // Ten wake-ups a second otherwise; a key that has expired is never read all the same.
    hz: '1',
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

export function libraryPath({ libraryPath: path }: ServerProgram): NodeJS.ProcessEnv {
  return path === undefined ? {} : { LD_LIBRARY_PATH: path };
}

async function end(watchdog: ChildProcess, run: string): Promise<void> {
  if (watchdog.exitCode === null && watchdog.signalCode === null) {
    watchdog.ref();
    const gone = new Promise((resolve) => watchdog.once('exit', resolve));
    watchdog.stdin?.end();
    await Promise.race([gone, pause(END_DEADLINE_MS, undefined, { ref: false })]);
  }
  await rm(run, { recursive: true, force: true });
}

async function answersWithin(socketPath: string, watchdog: ChildProcess): Promise<boolean> {
  const endMs = performance.now() + START_DEADLINE_MS;
  while (performance.now() < endMs && watchdog.exitCode === null) {
    if (await answers(socketPath)) return true;
    await pause(10);
  }
  return false;
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath, () => socket.write('PING\r\n'));
    socket.setTimeout(500, () => socket.destroy());
    socket.once('data', (reply) => {
      resolve(reply.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

async function lastWords(logPath: string): Promise<string> {
  const log = await readFile(logPath, 'utf8').catch(() => '');
  return log.trim().split('\n').at(-1)?.trim() || `no answer within ${START_DEADLINE_MS} ms`;
}
