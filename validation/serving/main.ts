import { writeFileSync } from 'node:fs';
import { servingPointsCsv } from './scoreboard';
import { servingReport } from './serving';
import { servingArguments, valueOf } from './serving-arguments';

/** Prints the scoreboard of published serving points. `--csv=path` writes every point. */
function main(): void {
  const args = process.argv.slice(2);
  const csv = valueOf(args, 'csv');
  const { results, text } = servingReport(servingArguments(args));
  process.stdout.write(text);
  if (csv !== undefined) writeFileSync(csv, servingPointsCsv(results));
}

main();
