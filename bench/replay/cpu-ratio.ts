import { keepResult, keptResult, originNow } from '../kept';
import { measuredAlone } from './alone';

const REQUESTS = 200_000;
const RUNS = 3;
/** Best of three on a shared machine: 25 % above the kept ratio is more than noise. */
const NOISE = 1.25;

/**
 * CPU per replayed request over CPU per request of the control kernel, the best of three processes.
 * Exit code 1: it is above the kept ratio plus noise. `--save` keeps the new ratio.
 */
function main(): void {
  const ratios = Array.from({ length: RUNS }, measured);
  const ratio = Math.min(...ratios);
  if (process.argv.includes('--save')) keepResult('cpu-ratio', { ratio, ratios });
  const kept = keptResult('cpu-ratio');
  const limit = Number(kept?.['ratio']) * NOISE;
  process.stdout.write(
    `A replayed request takes ${ratio.toFixed(2)} times the CPU of the control ` +
      `(runs: ${ratios.map((each) => each.toFixed(2)).join(', ')}) at ${originNow().commit}.\n` +
      `Kept: ${Number(kept?.['ratio']).toFixed(2)} at ${kept?.commit}, ${kept?.date}; ` +
      `the limit is ${limit.toFixed(2)}.\n`,
  );
  // Not a number when nothing is kept.
  if (!(ratio <= limit)) process.exitCode = 1;
}

function measured(): number {
  const { speed, control } = measuredAlone('budget', REQUESTS);
  return speed.user_cpu_us_per_request / control.user_cpu_us_per_request;
}

main();
