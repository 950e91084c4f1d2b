import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { waitUntil } from './wait';

/** Pids of all processes below one. Children have process groups of their own. */
export async function processesBelow(ancestor: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = new Set([ancestor]);
  // A child may precede its parent in the list. The tree is at most four levels deep.
  for (let depth = 0; depth < 4; depth += 1) {
    for (const [pid = 0, parent = 0] of rows) if (below.has(parent)) below.add(pid);
  }
  return [...below].filter((pid) => pid !== ancestor);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await waitUntil(() => !pids.some(isAlive), { what: 'every process is gone' });
}
