import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { measureTwoHop } from '../control-two-hop';
import { withRedis } from './cluster';
import { liveAgainstVirtual } from './live-virtual';
import { footprint, manyStreams, shortRequests, steadyRate } from './scenarios';

const ROOT = join(__dirname, '..', '..', '..');
const CONTROL = { kind: 'bare', outstanding: 128, rate: 50, seconds: 8, workersPerHop: 2 } as const;

/**
 * The live budgets, measured in one run with the bare two-hop BullMQ control beside them. Prints
 * one JSON document and, with `--save`, writes it to bench/results/live.json. `--quick` shortens
 * every part; such a run is marked as quick and must not be committed.
 */
async function main(): Promise<void> {
  const isQuick = process.argv.includes('--quick');
  const control = await told('two-hop control', () =>
    withRedis((url) => measureTwoHop({ ...CONTROL, url })),
  );
  const result = {
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`,
    date: new Date().toISOString().slice(0, 10),
    quick: isQuick,
    control,
    footprint: await told('footprint', () => footprint(isQuick ? 10 : 60)),
    short_requests: await told('short requests', () => shortRequests(isQuick ? 5 : 20)),
    steady_rate: await told('steady rate', () => steadyRate(isQuick ? 10 : 60)),
    live_against_virtual: await told('live against virtual', () =>
      agreement(isQuick ? 1 : 3, isQuick),
    ),
    many_streams: await told('many streams', () => manyStreams(isQuick ? 10 : 120)),
    budgets: {
      footprint: 'ready_seconds <= 5, pss_mib <= 600, idle_cores <= 0.01',
      short_requests: '>= 1,000 requests/s and >= 60 % of the control',
      steady_rate:
        'ttft over simulated p50 <= 2 ms, p99 <= 15 ms; mean ITL within 1 %; raw overhead ' +
        'p50 <= 2 x control',
      live_against_virtual:
        'median of 3 runs: ttft and itl mean within 3 %, p99 within 10 %; void when steps ' +
        'end 5 ms late (p99)',
      many_streams:
        '>= 49,500 tokens/s; delivery p50 <= 15 ms, p99 <= 50 ms, no growth; api <= 15, ' +
        'decode <= 4 µs CPU per token',
    },
  };
  const json = `${JSON.stringify(result, null, 2)}\n`;
  process.stdout.write(json);
  if (process.argv.includes('--save'))
    writeFileSync(join(ROOT, 'bench', 'results', 'live.json'), json);
}

/** Runs of the comparison under contention, and the median of their deviations. */
async function agreement(runs: number, isQuick: boolean): Promise<Record<string, unknown>> {
  const all: Awaited<ReturnType<typeof liveAgainstVirtual>>[] = [];
  const requests = isQuick ? 300 : 2_000;
  for (let run = 0; run < runs; run += 1) {
    all.push(await liveAgainstVirtual(requests, 'round-robin'));
  }
  const deviations = all.map(({ deviation }) => deviation);
  const names = Object.keys(deviations[0]!) as (keyof (typeof deviations)[number])[];
  const middle = names.map((name) => {
    const sorted = deviations.map((one) => one[name]).sort((a, b) => a - b);
    return [name, sorted[Math.floor(sorted.length / 2)]];
  });
  const pull = await liveAgainstVirtual(requests, 'pull');
  return { median_deviation: Object.fromEntries(middle) as object, runs: all, pull };
}

async function told<T>(what: string, measure: () => Promise<T>): Promise<T> {
  process.stderr.write(`${what} ...\n`);
  return measure();
}

void main();
