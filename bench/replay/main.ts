import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { keepResult, keptResult, originNow, ROOT } from '../kept';
import { besideControl, budgetScenario, speedOf } from './beside-control';

const MOONCAKE = [
  'replay',
  ...['--trace', 'mooncake-conversation', '--topology', '8P8D', '--model', 'llama-3.1-70b'],
  ...['--gpu', 'a100', '--tp', '8', '--json'],
];

/**
 * Measures the replay budgets: a million requests on one thread beside a control without KV and a
 * run of the same core without leaps, and a whole Mooncake trace from the command line. Prints the
 * kept figures beside the new ones; `--save` keeps the new ones.
 */
function main(): void {
  const count = process.argv.includes('--quick') ? 100_000 : 1_000_000;
  const { speed: synthetic, control } = besideControl(count);
  const result = {
    synthetic,
    control_without_kv: control,
    times_slower_than_control: synthetic.user_cpu_us_per_request / control.user_cpu_us_per_request,
    synthetic_no_leap: speedOf(budgetScenario(count, false)).speed,
    peak_memory_mib: Math.round(process.resourceUsage().maxRSS / 1024),
    mooncake_conversation_seconds: [1, 2, 3].map(() => mooncakeSeconds(MOONCAKE)),
    mooncake_conversation_no_leap_seconds: mooncakeSeconds([...MOONCAKE, '--no-leap']),
    budgets: {
      synthetic: 'at most 2.5 times slower than the control, <= 1,024 MiB',
      mooncake_conversation_seconds: '<= 1, start-up included',
    },
  };
  const kept = keptResult('replay');
  process.stdout.write(`${JSON.stringify({ ...originNow(), ...result, kept }, null, 2)}\n`);
  if (process.argv.includes('--save')) keepResult('replay', result);
}

/** From the start of the process to its end. */
function mooncakeSeconds(args: readonly string[]): number {
  const startMs = performance.now();
  execFileSync(process.execPath, [join(ROOT, 'bin', 'baton'), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 26,
  });
  return (performance.now() - startMs) / 1000;
}

main();
