import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { waitUntil } from './wait';

type PidAndParent = readonly [pid: number, parent: number];

/** Pids of all processes below one. Children have process groups of their own. */
export async function processesBelow(ancestor: number): Promise<number[]> {
  const rows = process.platform === 'linux' ? rowsOfProc() : await rowsOfPs();
  const below = new Set([ancestor]);
  // A child may precede its parent in the list. The tree is at most four levels deep.
  for (let depth = 0; depth < 4; depth += 1) {
    for (const [pid, parent] of rows) if (below.has(parent)) below.add(pid);
  }
  return [...below].filter((pid) => pid !== ancestor);
}

/** A minimal Linux has no `ps`. */
function rowsOfProc(): PidAndParent[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid): PidAndParent[] => {
    try {
      // `pid (name) state parent ...`; a name may contain blanks and parentheses.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [[pid, Number(parent)]];
    } catch {
      // It has ended since the listing.
      return [];
    }
  });
}

async function rowsOfPs(): Promise<PidAndParent[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
      return [pid, parent];
    });
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
