import { writeFileSync } from 'node:fs';
import { servingPointsCsv } from './scoreboard';
import { servingReport } from './serving';

/**
 * Prints the scoreboard of published serving points; an argument `--csv=path` keeps every point.
 */
function main(): void {
  const csv = process.argv.find((each) => each.startsWith('--csv='))?.slice('--csv='.length);
  const every = process.argv.find((each) => each.startsWith('--every='))?.slice('--every='.length);
  const { results, text } = servingReport(Number(every ?? 1));
  process.stdout.write(text);
  if (csv !== undefined) writeFileSync(csv, servingPointsCsv(results));
}

main();
