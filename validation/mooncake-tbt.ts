import { join } from 'node:path';
import type { RequestLog } from '@baton/analysis';
import { type BatonConfig, defaultConfig } from '@baton/config';
import { type Micros, usToMs } from '@baton/kernel';
import { type ClusterScenario, scenarioOf, simulate } from '@baton/simulation';
import { DATA, rowsOf } from './files';
import type { Finding } from './finding';
import { traceNames, traceOf } from './mooncake';
import { MACHINES, NODES, TERABYTE_GIB } from './mooncake-pool';
import { wholePrompts } from './whole-prompts';

const PART = `Mooncake, figures 1 and 7: requests whose slowest tokens are in time, ${NODES} engines`;
const FIGURES = ['published', 'mooncake_fast25_fig1_fig7.csv'];
/** The share of a request's gaps, the longest ones, whose mean is its TBT in the paper. */
const LONGEST = 0.1;

interface StepTimes {
  readonly name: string;
  readonly config: Partial<BatonConfig>;
}

/** The paper's stack is of 2024, between the two. */
const STEP_TIMES: readonly StepTimes[] = [
  { name: "today's steps", config: {} },
  {
    name: 'steps of 2023',
    config: {
      model: 'llama-2-70b',
      stepTime: 'table',
      stepTimeFile: join(DATA, 'published', 'splitwise_llama-2-70b_a100_tp8.csv'),
    },
  },
];

/**
 * The share of requests whose time between tokens is below a bound. The paper does not say how many
 * of its 16 machines decode; half of them do in the simulation.
 */
export function timeBetweenTokens(): Finding[] {
  return traceNames().flatMap((trace) =>
    STEP_TIMES.flatMap((steps) => [
      ...sharesOf(trace, 'Mooncake', { steps, scenario: disaggregated(trace, steps.config) }),
      ...sharesOf(trace, 'vLLM', { steps, scenario: aggregated(trace, steps.config) }),
    ]),
  );
}

type TraceName = Parameters<typeof traceOf>[0];

function disaggregated(trace: TraceName, steps: Partial<BatonConfig>): ClusterScenario {
  const config = defaultConfig({
    ...MACHINES,
    stepTime: 'auto',
    ...steps,
    topology: `${NODES / 2}P${NODES / 2}D`,
    kvPool: 'global',
    kvOffloadingSize: TERABYTE_GIB,
  });
  return scenarioOf(config, traceOf(trace));
}

function aggregated(trace: TraceName, steps: Partial<BatonConfig>): ClusterScenario {
  const config = { ...MACHINES, stepTime: 'auto', ...steps, topology: `${NODES}A` } as const;
  const maxNumBatchedTokens = MACHINES.maxModelLen;
  return wholePrompts(traceOf(trace), { ...config, maxNumBatchedTokens });
}

function sharesOf(
  trace: TraceName,
  series: string,
  { steps, scenario }: { readonly steps: StepTimes; readonly scenario: ClusterScenario },
): Finding[] {
  const tbtMs = slowestGapsMs(scenario);
  return rowsOf(...FIGURES)
    .filter((row) => row['workload'] === trace && row['series'] === series)
    .map((row) => ({
      part: PART,
      what: `${trace}, ${series}, below ${row['x']} ms, ${steps.name}`,
      theirs: Number(row['y']),
      ours: (100 * tbtMs.filter((ms) => ms < Number(row['x'])).length) / tbtMs.length,
      unit: '%',
    }));
}

/** The TBT of each completed request as the paper defines it, ms; 0 for a single token. */
function slowestGapsMs(scenario: ClusterScenario): number[] {
  const ends: Micros[][] = [];
  const isApart = scenario.pools.some(({ options }) => options.promptsFirst);
  const { log } = simulate(scenario, {
    onSteps: ({ engine, startUs, endUs, steps, promptTokens }) => {
      // Running sequences get no token in a step of prompts alone.
      if (isApart && promptTokens > 0) return;
      const stepUs = (endUs - startUs) / steps;
      for (let left = steps - 1; left >= 0; left--) {
        (ends[engine] ??= []).push(endUs - left * stepUs);
      }
    },
  });
  const rows = Array.from({ length: log.count }, (_, row) => row);
  return rows.map((row) => slowestGapMs(log, row, ends[log.decodeEngine[row]!] ?? []));
}

function slowestGapMs(log: RequestLog, row: number, ends: readonly Micros[]): number {
  const firstUs = log.firstTokenUs.at(row);
  const from = firstAfter(ends, firstUs);
  const instants = [firstUs, ...ends.slice(from, from + log.emittedTokens[row]! - 1)];
  const gaps = instants.slice(1).map((us, i) => us - instants[i]!);
  if (gaps.length === 0) return 0;
  const longest = gaps.sort((a, b) => b - a).slice(0, Math.ceil(gaps.length * LONGEST));
  return usToMs(longest.reduce((sum, us) => sum + us, 0) / longest.length);
}

/** The index of the first instant after this one. */
function firstAfter(ascending: readonly Micros[], us: Micros): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ascending[middle]! <= us) from = middle + 1;
    else to = middle;
  }
  return from;
}
