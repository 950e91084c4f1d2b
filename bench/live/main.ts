import { measureTwoHop } from '../control-two-hop';
import { keepResult, originNow } from '../kept';
import { compareClocks, comparisonOf, PLACEMENTS } from './agreement';
import { withRedis } from './cluster';
import { footprint, manyStreams, shortRequests, steadyRate } from './scenarios';

const CONTROL = { kind: 'bare', outstanding: 128, rate: 50, seconds: 8, workersPerHop: 2 } as const;

/**
 * Measures the live budgets in one run, with the bare two-hop BullMQ control beside them. Prints
 * one JSON document, and with `--save` writes it to bench/results/live.json. `--quick` shortens
 * every part; such a run is marked as quick and must not be committed.
 */
async function main(): Promise<void> {
  const isQuick = process.argv.includes('--quick');
  const control = await reported('two-hop control', () =>
    withRedis((url) => measureTwoHop({ ...CONTROL, url })),
  );
  const result = {
    quick: isQuick,
    control,
    footprint: await reported('footprint', () => footprint(isQuick ? 10 : 60)),
    short_requests: await reported('short requests', () => shortRequests(isQuick ? 5 : 20)),
    steady_rate: await reported('steady rate', () => steadyRate(isQuick ? 10 : 60)),
    live_against_virtual: await reported('live against virtual', () =>
      compareClocks({
        runs: isQuick ? 1 : 3,
        requests: isQuick ? 300 : 2_000,
        speedup: 1,
        apiProcesses: '1',
        placements: PLACEMENTS,
      }),
    ),
    many_streams: await reported('many streams', () => manyStreams(isQuick ? 10 : 120)),
    budgets: {
      footprint: 'ready_seconds <= 5, pss_mib <= 600, idle_cores <= 0.01',
      short_requests: '>= 1,000 requests/s and >= 60 % of the control',
      steady_rate:
        'ttft over simulated p50 <= 2 ms, p99 <= 15 ms; mean ITL within 1 %; raw overhead ' +
        'p50 <= 2 x control',
      live_against_virtual:
        'median of 3 runs: ttft mean within 2 %, p99 within 5 %, itl p99 within 10 %; void ' +
        'when steps end 5 ms late (p99)',
      many_streams:
        '>= 49,500 tokens/s; delivery p50 <= 15 ms, p99 <= 50 ms, no growth; api <= 15, ' +
        'decode <= 4 µs CPU per token',
    },
  };
  process.stdout.write(`${JSON.stringify({ ...originNow(), ...result }, null, 2)}\n`);
  if (process.argv.includes('--save')) keepResult('live', result);
}

async function reported<T>(what: string, measure: () => Promise<T>): Promise<T> {
  process.stderr.write(`${what} ...\n`);
  return measure();
}

/** Compares only the two clocks. */
async function compare(args: readonly string[]): Promise<void> {
  const result = await compareClocks(comparisonOf(args));
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

const HELP = `npm run bench -- [flags], or npm run bench -- live-virtual [flags]

Measures the live budgets, which takes some 10 minutes, and prints one JSON document. live-virtual
compares only the two clocks.

  --quick       shortens every part; such a result must not be committed
  --save        writes the result to bench/results/live.json

  live-virtual --runs 5 --requests 2000 --speedup 1 --placement pull|round-robin
               --api-processes 1
`;

const [, , part, ...args] = process.argv;
if (process.argv.includes('--help')) process.stdout.write(HELP);
else void (part === 'live-virtual' ? compare(args) : main());
