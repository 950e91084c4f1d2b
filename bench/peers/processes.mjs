// Counters of the kernel for processes.
import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc: USER_HZ is 100 on every Linux. */
const TICKS_PER_SECOND = 100;

/** The root processes and all their descendants. */
export function treeOf(roots) {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const tree = [...roots];
  for (const parent of tree) {
    tree.push(...pids.filter((pid) => Number(statOf(pid)?.[1]) === parent));
  }
  return tree;
}

/** User and system time so far, seconds. */
export function cpuSeconds(pids) {
  const ticks = pids.map(statOf).map((stat) => Number(stat?.[11] ?? 0) + Number(stat?.[12] ?? 0));
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

/** The same for the ended children of this process. */
export function childSeconds() {
  const stat = statOf('self');
  return (Number(stat[13]) + Number(stat[14])) / TICKS_PER_SECOND;
}

/** Memory, with shared pages counted once, MiB. */
export function pssMiB(pids) {
  return pids.reduce((sum, pid) => sum + pssKib(pid), 0) / 1_024;
}

function pssKib(pid) {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

/** The fields of a process behind its name. Undefined after its end. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
