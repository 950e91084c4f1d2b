import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** How processes are starved: each runs for `onMs` of every `periodMs`. */
export interface Pulses {
  readonly onMs: number;
  readonly periodMs: number;
  /** `together`: all run in the same part of the period. `apart`: each has a part of its own. */
  readonly phase: 'together' | 'apart';
}

const PULSES = `
const [pids, { onMs, periodMs, phase }] = JSON.parse(process.argv[1]);
const signal = (pid, name) => { try { process.kill(pid, name); } catch {} };
pids.forEach((pid, i) => {
  const startMs = phase === 'apart' ? (i * periodMs) / pids.length : 0;
  const pulse = () => {
    signal(pid, 'SIGCONT');
    setTimeout(() => signal(pid, 'SIGSTOP'), onMs);
  };
  signal(pid, 'SIGSTOP');
  setTimeout(() => { pulse(); setInterval(pulse, periodMs); }, startMs);
});
process.on('SIGTERM', () => {
  for (const pid of pids) signal(pid, 'SIGCONT');
  process.exit(0);
});
`;

/** Busy loops and pulses of SIGSTOP and SIGCONT, each in a process of its own, until `end`. */
export class Starvation {
  private readonly children: ChildProcess[] = [];

  pulse(pids: readonly number[], pulses: Pulses): void {
    this.start(PULSES, JSON.stringify([pids, pulses]));
  }

  busyLoops(count: number): void {
    for (let i = 0; i < count; i += 1) this.start('for (;;);');
  }

  /** Lets every stopped process run again. */
  async end(): Promise<void> {
    const gone = this.children.map(async (child) => {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    });
    this.children.length = 0;
    await Promise.all(gone);
  }

  private start(program: string, ...args: string[]): void {
    this.children.push(spawn(process.execPath, ['-e', program, ...args], { stdio: 'inherit' }));
  }
}
