import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Summary } from '@baton/analysis';
import { ROOT } from '../kept';

/** A run of `baton replay`, from the start of its process to its end. */
export interface CommandRun {
  readonly summary: Summary;
  readonly wallSeconds: number;
  readonly userUs: number;
  readonly peakMib: number;
}

const KIB_PER_MIB = 1_024;

/** @throws Error when it fails */
export function replayCommand(args: readonly string[]): CommandRun {
  const usage = join(__dirname, 'report-usage.js');
  const command = [join(ROOT, 'bin', 'baton'), 'replay', ...args, '--json'];
  const startMs = performance.now();
  const { status, output } = spawnSync(process.execPath, ['--require', usage, ...command], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const wallSeconds = (performance.now() - startMs) / 1_000;
  if (status !== 0) throw new Error(`baton replay: ${output[2]}`);
  const used = JSON.parse(output[3]!) as NodeJS.ResourceUsage;
  return {
    summary: JSON.parse(output[1]!) as Summary,
    wallSeconds,
    userUs: used.userCPUTime,
    peakMib: Math.round(used.maxRSS / KIB_PER_MIB),
  };
}
