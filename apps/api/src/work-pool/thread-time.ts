import { readFileSync } from 'node:fs';

/** proc(5): times are in ticks of `sysconf(_SC_CLK_TCK)`, 100 per second on every Linux we know. */
const TICK_MS = 10;
/** proc(5), fields 14 and 15 of stat, counted behind the name in parentheses. */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** CPU time of a thread of this process, ms. Undefined where the system does not expose it. */
export function threadCpuMs(systemId: number | undefined): number | undefined {
  if (systemId === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${systemId}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * TICK_MS;
  } catch {
    return undefined;
  }
}
