import { readFileSync, writeFileSync } from 'node:fs';

/** proc(5): times are in ticks of `sysconf(_SC_CLK_TCK)`, 100 per second on every Linux we know. */
const TICK_MS = 10;

export interface Cost {
  /** CPU time of all threads, ms. */
  readonly cpuMs: number;
  readonly tookMs: number;
  /** Largest resident memory, KiB. */
  readonly peakKib: number;
}

/** The cost of a process, with all its threads, from now on. */
export class ProcessCost {
  private readonly beganMs: number;
  private readonly sinceMs = performance.now();

  constructor(private readonly pid: number) {
    // proc(5): 5 resets the peak to the present value.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    this.beganMs = cpuMsOf(pid);
  }

  end(): Cost {
    const cpuMs = cpuMsOf(this.pid) - this.beganMs;
    const tookMs = performance.now() - this.sinceMs;
    return { cpuMs, tookMs, peakKib: statusOf(this.pid, 'VmHWM') };
  }
}

function statusOf(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
}

/** User and system time, fields 14 and 15 of stat, counted behind the name in parentheses. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
