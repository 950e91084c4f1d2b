import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Driver, type TheirRun, theirRuns } from './vllm-driver';
import type { Workload } from './workload';

const SOURCES = ['driver.py', 'stand_ins.py'].map((name) =>
  readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8'),
);

/**
 * Like `theirRuns`, but runs that `folder` has are read from there, and new ones are put there:
 * they depend on vLLM, the driver and the workloads alone, so a comparison that was cut short goes
 * on, and one after a change to the engine takes seconds.
 */
export async function keptRuns(
  workloads: readonly Workload[],
  driver: Driver,
  folder: string,
): Promise<TheirRun[]> {
  const key = createHash('sha256').update(basename(driver.source));
  for (const text of [...SOURCES, JSON.stringify(workloads)]) key.update(text);
  const file = join(folder, `${key.digest('hex').slice(0, 32)}.json.gz`);
  if (existsSync(file)) return JSON.parse(gunzipSync(readFileSync(file)).toString()) as TheirRun[];
  const runs = await theirRuns(workloads, driver);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.part`, gzipSync(JSON.stringify(runs)));
  renameSync(`${file}.part`, file);
  return runs;
}
