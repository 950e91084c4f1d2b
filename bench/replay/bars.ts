import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keptResult, ROOT } from '../kept';

/** The measured figures. A list has one value per run. */
export interface ReplayResult {
  readonly quick: boolean;
  readonly requests: number;
  /** 4P8D, random 512/128 at 60/s: the command with all defaults, and without two of them. */
  readonly defaults_user_us_per_request: readonly number[];
  readonly synchronous_user_us_per_request: readonly number[];
  /** Counts of 4P8D without a front end. */
  readonly events_per_request: number;
  readonly steps_per_request: number;
  readonly calls_per_request: number;
  readonly calls_per_event: number;
  readonly budget_user_us_per_request: readonly number[];
  readonly budget_control_user_us_per_request: readonly number[];
  readonly budget_times_control: readonly number[];
  readonly budget_synchronous_user_us_per_request: readonly number[];
  readonly user_us_per_request_by_size: Readonly<Record<string, readonly number[]>>;
  readonly speed_of_384_engines_beside_12: number;
  readonly mooncake_seconds: readonly number[];
  /** Null: not compared. */
  readonly dynosim_seconds: readonly number[] | null;
  readonly times_as_fast_as_dynosim: number | null;
  /** Null: not measured. */
  readonly ten_million_peak_mib: number | null;
}

/** A figure of a replay as the documents print it, and its bar. */
export interface Bar {
  readonly figure: string;
  readonly measured: string;
  /** Empty: reported only. */
  readonly bar: string;
}

const PAGE = join(ROOT, 'docs', 'benchmarks.md');
const BEGIN = '<!-- npm run bench:replay -- --save writes this table -->';
const END = '<!-- end of this table -->';

/** The bars of a result, each with the best of its runs. */
export function barsOf(result: ReplayResult): readonly Bar[] {
  const best = (runs: readonly number[]): number => Math.min(...runs);
  const us = (runs: readonly number[]): string => `${best(runs).toFixed(1)} µs`;
  const times = result.times_as_fast_as_dynosim;
  const mib = result.ten_million_peak_mib;
  const rows: readonly (readonly [string, string, string])[] = [
    ['4P8D, random 512/128, all defaults', us(result.defaults_user_us_per_request), '≤ 6 µs'],
    ['the same, synchronous, no front end', us(result.synchronous_user_us_per_request), ''],
    ['events per request, no front end', result.events_per_request.toFixed(2), 'about 6'],
    ['function calls per event, no front end', result.calls_per_event.toFixed(0), 'about 80'],
    ['budget workload', us(result.budget_user_us_per_request), ''],
    ['the same over its control without KV', best(result.budget_times_control).toFixed(1), '≤ 3'],
    ['the same, synchronous', us(result.budget_synchronous_user_us_per_request), '≤ 5 µs'],
    [
      '384 engines, speed beside 12 engines',
      result.speed_of_384_engines_beside_12.toFixed(2),
      '≥ 0.8',
    ],
    ['Mooncake conversation on 8A', `${best(result.mooncake_seconds).toFixed(2)} s`, ''],
    ['times as fast as DynoSim', times === null ? 'not compared' : times.toFixed(1), '≥ 8'],
    [
      '10 million requests',
      mib === null ? 'not measured' : `${mib.toLocaleString('en-US')} MiB`,
      '≤ 1,024 MiB',
    ],
  ];
  return rows.map(([figure, measured, bar]) => ({ figure, measured, bar }));
}

/** The bars as a table in Markdown. */
export function tableOf(bars: readonly Bar[]): string {
  const rows = bars.map(({ figure, measured, bar }) => `| ${figure} | ${measured} | ${bar} |`);
  return `${['| Replay | Measured | Bar |', '| --- | --- | --- |', ...rows].join('\n')}\n`;
}

/** Puts kept bars into docs/benchmarks.md, and their origin into its table of kept results. */
export function putTable(bars: readonly Bar[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = [page.slice(0, page.indexOf(BEGIN)), page.slice(page.indexOf(END))];
  const { commit, date } = keptResult('replay')!;
  const origin = `| \`replay.json\` | \`npm run bench:replay\` | ${commit} | ${date} |`;
  const text = `${before}${BEGIN}\n\n${tableOf(bars)}\n${rest}`;
  writeFileSync(PAGE, text.replace(/^\| `replay\.json`.*$/m, origin));
  const prettier = join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
  execFileSync(process.execPath, [prettier, '--write', PAGE], { stdio: 'ignore' });
}
