/* global clearTimeout */
// Runs programs as children. Each has a deadline, and a failure quotes the program's last output.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TAIL_LINES = 30;
/** Exit codes of `baton bench` after a whole load. 3 means that it was sent late. */
export const LOADED = [0, 3];

/**
 * @returns the exit code and the output; the code is 124 after `deadlineMs`, and 127 for a missing
 * program
 */
export function execute([program, ...args], options = {}) {
  const { env = process.env, cwd = ROOT, input = '', deadlineMs = 600_000 } = options;
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const printed = { stdout: '', stderr: '' };
    const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
    const end = (code) => {
      clearTimeout(timer);
      resolve({ code, ...printed });
    };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8');
      child[stream].on('data', (text) => (printed[stream] += text));
    }
    child.once('error', () => end(127));
    child.once('close', (code) => end(code ?? 124));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/**
 * @returns the program's stdout without surrounding blanks. Throws when its exit code is not in
 * `codes` (0)
 */
export async function demand(command, { codes = [0], ...options } = {}) {
  const { code, stdout, stderr } = await execute(command, options);
  if (codes.includes(code)) return stdout.trim();
  const tail = `${stdout}\n${stderr}`.trim().split('\n').slice(-TAIL_LINES).join('\n');
  throw new Error(`'${command.join(' ')}' ended with ${code}:\n${tail}`);
}

/** Calls `look` every `everyMs` until it returns a value. Throws after `deadlineMs`. */
export async function until(what, look, { deadlineMs = 300_000, everyMs = 200 } = {}) {
  for (const giveUpMs = performance.now() + deadlineMs; performance.now() < giveUpMs;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
}

export function expectThat(isSo, complaint) {
  if (!isSo) throw new Error(complaint);
}
