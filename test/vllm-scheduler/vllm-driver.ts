import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Workload } from './workload';

export interface TheirRun {
  readonly steps: readonly string[];
  /**
   * The first step in which a block was found after the eviction of another one with the same
   * content; null without one.
   */
  readonly twinAt: number | null;
  /** No request runs any more, though one waits from this step on; null when none does. */
  readonly starvesFrom: number | null;
  /** The first step that preempts a request of a batch in a pipeline stage; null without one. */
  readonly inFlightAt: number | null;
  /** This version of vLLM does not run it. */
  readonly isRefused?: true;
}

export interface Driver {
  readonly python: string;
  /** The folder with vLLM's source; its name has the version. */
  readonly source: string;
}

const DRIVER = fileURLToPath(new URL('driver.py', import.meta.url));
const WAIT_MS = 600_000;

/**
 * The steps of vLLM's own scheduler for the workloads, in their order. @throws Error with Python's
 * output when it fails.
 */
export async function theirRuns(
  workloads: readonly Workload[],
  { python, source }: Driver,
): Promise<TheirRun[]> {
  const child = spawn(python, [DRIVER, source], { stdio: ['pipe', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  // A missing answer shows that a driver has died.
  child.stdin.on('error', () => {});
  child.stdin.end(workloads.map((workload) => `${JSON.stringify(workload)}\n`).join(''));
  const runs: TheirRun[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    runs.push(JSON.parse(line) as TheirRun);
  }
  clearTimeout(timer);
  if (runs.length < workloads.length) {
    throw new Error(`vLLM fails at seed ${workloads[runs.length]?.seed}:\n${said.slice(-2000)}`);
  }
  return runs;
}
