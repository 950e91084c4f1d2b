import { usToMs } from '@baton/kernel';
import { simulate } from '@baton/simulation';
import {
  aggregatedThen,
  aggregatedToday,
  type Design,
  latenciesOf,
  splitThen,
  splitToday,
} from './distserve-designs';
import { type DistserveCase, distserveCases, loadOf } from './distserve-load';

const REQUESTS = 600;
/** The part of requests that must meet the SLO. */
const ATTAINED = 0.9;
/** Rates per second and GPU between which the goodput lies, and halvings of their ratio. */
const SLOWEST = 0.02;
const FASTEST = 40;
const HALVINGS = 9;
/** Token budgets of today's aggregated engines. */
const BUDGETS = [512, 1_024, 2_048, 8_192];

/**
 * Goodput per GPU of both designs at the SLO of the paper: with the engines of then, and with
 * today's. A Markdown table.
 */
export function distserveTable(): string {
  const head = [
    'figure, workload, SLO',
    'paper: DistServe over vLLM',
    'their fits of both engines',
    'their fit of DistServe for both',
    "today's engines",
    "today's, first token from prefill",
  ];
  const rows = distserveCases().map(cellsOf);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cellsOf(one: DistserveCase): string[] {
  const own = goodput(one, splitThen(one));
  const today = Math.max(...BUDGETS.map((budget) => goodput(one, aggregatedToday(one, budget))));
  const split = splitToday(one);
  const early = { ...split, firstToken: 'from prefill' } as const;
  const { figure, workload, model, ratios, ttftUs, tpotUs } = one;
  return [
    `${figure}, ${workload}, ${model}, TTFT ${usToMs(ttftUs)} ms, TPOT ${usToMs(tpotUs)} ms`,
    [...new Set(ratios)].map((ratio) => ratio.toFixed(1)).join(' to '),
    compared(own, goodput(one, aggregatedThen(one, 'vllm'))),
    compared(own, goodput(one, aggregatedThen(one, 'distserve'))),
    compared(goodput(one, split), today),
    compared(goodput(one, early), today),
  ];
}

/** `1.5 (3.0 : 2.0)`: the ratio and both rates per GPU. */
function compared(split: number, aggregated: number): string {
  const rates = `${split.toFixed(2)} : ${aggregated.toFixed(2)}`;
  return aggregated === 0 ? `– (${rates})` : `${(split / aggregated).toFixed(2)} (${rates})`;
}

/** The highest rate per second and GPU at which the SLO is attained; 0 when none is. */
export function goodput(one: DistserveCase, design: Design): number {
  const isAttained = (rate: number): boolean => {
    const load = loadOf(one, { ratePerSecond: rate * design.gpus, requests: REQUESTS });
    const good = latenciesOf(simulate(design.scenario(load)).log, design).filter(
      ({ ttftUs, tpotUs }) => ttftUs <= one.ttftUs && tpotUs <= one.tpotUs,
    );
    return good.length >= ATTAINED * REQUESTS;
  };
  if (!isAttained(SLOWEST)) return 0;
  let [low, high] = [SLOWEST, FASTEST];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (isAttained(middle)) low = middle;
    else high = middle;
  }
  return low;
}
