import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProgress } from '../apps/cli/src/progress';
import { distserveTable } from './distserve';
import { distserveLog, distserveMeans } from './distserve-runs';
import { type Finding, isMissed, tableOf } from './finding';
import { h100ClosedLoop } from './h100-closed-loop';
import { measuredSteps } from './measured-steps';
import { hitRates, prefillSeconds } from './mooncake';
import { pooledHitRates, pooledPrefillSeconds } from './mooncake-pool';
import { timeBetweenTokens } from './mooncake-tbt';
import { DOCS, PAGE } from './page';
import { planRegret, planReversal } from './plan-regret';
import { referenceChapter } from './reference/reference-report';
import { servingPointsCsv } from './serving/scoreboard';
import { servingReport } from './serving/serving';
import { servingArguments } from './serving/serving-arguments';
import { vllmLog } from './vllm-log';

const POINTS = join(DOCS, 'validation-serving.csv');
const STEPS = [
  '## Engine steps of PyTorch on our own H100 and H200, blind\n\n',
  'Composed steps without overhead, and the medians of steps that `python -m baton.measure` took ',
  '(`data/measured/pytorch-hopper`). Nothing is fitted to them. In BF16 the products are the same ',
  'cuBLAS kernels as in the tables; FP8 products, attention and elementwise kernels are others. ',
  'Errors are of composed over measured.',
].join('');
const PLANS = [
  "## Plans beside other answers\n\nThe goodput of `baton plan`'s answer beside that of the best ",
  'design of a small space, each of whose designs was tried, and beside a cluster that was tuned by ',
  'hand. The search knows a rate within 2 %, so it may find a higher one.',
].join('');
const FITTED =
  '## What is fitted\n\nThe tables below compare runs whose step times are partly fitted. Rows ' +
  'that were fitted say so and prove nothing.';
const DISTSERVE = [
  '## DistServe: goodput per GPU of a split over aggregated engines\n\n',
  'The highest rate at which 90 % of requests meet the SLO, as a ratio of both designs, with the ',
  "rates in brackets (split : aggregated, requests per second and GPU). GPUs are the paper's A100. ",
  "*Their fits*: step times that DistServe's authors fitted to both engines; vLLM computes whole ",
  'prompts before any decode, without prefix cache; DistServe answers with the first token when ',
  "the prompt is computed. *Their fit of DistServe for both* leaves only the designs. *Today's ",
  'engines*: composed steps; aggregated ones at the best of four token budgets with chunked ',
  'prefill, and a split whose first token comes from decode, as in vLLM. Splits have the placement ',
  'of the paper, except that OPT-66B decodes with TP4, not with TP2 and two pipeline stages.',
].join('');
const SERVING = [
  '## Published serving points, blind\n\n',
  'This part replays the closed loops of `data/measured/serving/given.csv` with composed step ',
  'times. ',
  'No constant is fitted to them. Some effects of the model were added after a look at these ',
  "errors: MiniMax's router in 32 bits, norms in the all-reduce, gpt-oss's padded experts, ",
  "SGLang's launching of prefill and its prompts first, the settings of published scripts, and ",
  'the turns and limits of decode engines. Only other points can test these effects. The power ',
  'limit of H100 and H200 was tried on these points before its constants were measured on our ',
  'own GPUs. Aims: a mean absolute error of 12 % in TPOT and in throughput (vLLM 8 %, racks ',
  '40 %), 20 % in TTFT with up to four clients. Throughput is that of a closed loop: its clients ',
  'over the time of a mean request. ',
  '[validation-serving.csv](validation-serving.csv) has every point.',
].join('');

const HEAD =
  '# Validation\n\nThis page is the output of `npm run validate`. It compares figures ' +
  'of the virtual clock with figures that others measured or published; errors are relative to ' +
  'the latter.';
const BY_HAND = '## What could not be matched, and why';

/**
 * Compares the virtual clock with measured and published figures of others. Prints every figure,
 * including missed ones; `--save` keeps them in docs/validation.md. `--every=8` takes fewer serving
 * points and no plans, `--framework sglang` composes the points from SGLang's kernels.
 * `reference/main.ts` makes the chapter of the reference steps alone.
 */
async function main(): Promise<void> {
  const isWhole = !process.argv.some((word) => word.startsWith('--every'));
  const log = vllmLog();
  const loop = h100ClosedLoop();
  const mooncake = [hitRates, pooledHitRates, prefillSeconds, pooledPrefillSeconds];
  const papers = [...mooncake, timeBetweenTokens, distserveLog, distserveMeans];
  const findings = [...log.findings, ...loop.findings, ...papers.flatMap((bars) => bars())];
  const notes = [log.note, loop.note];
  const serving = await withProgress('serving points', (onProgress) =>
    servingReport({ ...servingArguments(process.argv), onProgress }),
  );
  const listed = notes.map((note) => `* ${note}`).join('\n');
  const steps = `${STEPS}\n\n${measuredSteps()}`;
  const fitted = `${FITTED}\n\n${listed}`;
  const plans = isWhole ? [await planChapter()] : [];
  const blind = [SERVING, serving.text.trim(), ...plans, referenceChapter(), steps];
  const distserve = `${DISTSERVE}\n\n${distserveTable()}`;
  const parts = [...blind, fitted, tables(findings), distserve];
  const text = `${[summary(findings), ...parts].join('\n\n')}\n`;
  process.stdout.write(text);
  if (!process.argv.includes('--save')) return;
  writeFileSync(PAGE, page(text));
  writeFileSync(POINTS, servingPointsCsv(serving.results));
}

/** Plans take minutes, so a run with fewer serving points leaves them out. */
async function planChapter(): Promise<string> {
  const regrets = await withProgress('plans', (onProgress) => planRegret(onProgress));
  return `${PLANS}\n\n${tables([...regrets, await planReversal()])}`;
}

function summary(findings: readonly Finding[]): string {
  const aimed = findings.filter(({ aim, isFitted }) => aim !== undefined && isFitted !== true);
  const missed = aimed.filter(isMissed);
  return (
    'Serving points and steps come first; nothing is fitted to them. The tables of single runs ' +
    `follow: they have ${findings.length} figures, of which ${aimed.length} have an aim. ` +
    `${aimed.length - missed.length} meet it, ${missed.length} miss it.`
  );
}

function tables(findings: readonly Finding[]): string {
  const parts = [...new Set(findings.map(({ part }) => part))];
  return parts
    .map((part) => `## ${part}\n\n${tableOf(findings.filter((one) => one.part === part))}`)
    .join('\n\n');
}

/** The page is generated up to its last chapter, which is written by hand. */
function page(text: string): string {
  const [, byHand = ''] = readFileSync(PAGE, 'utf8').split(BY_HAND);
  return `${HEAD}\n\n${text}\n${BY_HAND}${byHand}`;
}

void main();
