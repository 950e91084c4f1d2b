import {
  crossValidate,
  ERROR_TABLE,
  formatErrorTable,
  learnErrors,
  rootFolder,
} from '@baton/calibration';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { servingReport } from '../serving/serving';
import { coverageTable, errorPoints } from './error-points';

/**
 * Prints how often 80 % intervals contain published serving points outside of their fit.
 * `--write=2026-11-22` writes the shipped table, with this date; `--every=4` uses every fourth
 * point.
 */
function main(): void {
  const flag = (name: string): string | undefined => {
    return process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
  };
  const points = errorPoints(servingReport({ every: Number(flag('every') ?? 1) }).results);
  process.stdout.write(`${coverageTable(crossValidate(points))}\n`);
  const date = flag('write');
  if (date === undefined) return;
  const command = `node dist/validation/error-bars/main.js --write=${date}`;
  const made = `${date}, ${command}: measured / simulated`;
  const path = join(rootFolder(), ERROR_TABLE);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, formatErrorTable(learnErrors(points), made));
}

main();
