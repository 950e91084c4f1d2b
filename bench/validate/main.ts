import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProgress } from '../../apps/cli/src/progress';
import { type Finding, isMissed, tableOf } from './finding';
import { h100ClosedLoop } from './h100-closed-loop';
import { hitRates, prefillSeconds } from './mooncake';
import { pooledHitRates, pooledPrefillSeconds } from './mooncake-pool';
import { servingPointsCsv } from './serving/scoreboard';
import { servingReport } from './serving/serving';
import { servingArguments } from './serving/serving-arguments';
import { vllmLog } from './vllm-log';

const DOCS = join(__dirname, '..', '..', '..', 'docs');
const PAGE = join(DOCS, 'validation.md');
const POINTS = join(DOCS, 'validation-serving.csv');
const SERVING = [
  '## Published serving points, blind\n\n',
  'Closed loops of `data/measured/serving/given.csv` replayed with composed step times; ',
  'no constant was fitted to them. Errors of these points led to these effects: ',
  "MiniMax's router in 32 bits, norms in the all-reduce, gpt-oss's padded experts, SGLang's ",
  'launching of prefill and its prompts first, the settings of published scripts, and the turns ',
  'and limits of engines that decode. Only points outside of that search can test them. Aims: ',
  '12 % of mean absolute error in TPOT (vLLM 8 %), 20 % in the TTFT of up to four clients, ',
  '40 % for racks. Every point: ',
  '[validation-serving.csv](validation-serving.csv).',
].join('');

const HEAD =
  `# Validation\n\nWhat \`npm run validate\` prints: the virtual clock beside what ` +
  'others have measured or published. Errors are of Baton against theirs.';
const BY_HAND = '## What could not be matched, and why';

/**
 * Compares the virtual clock with measured and published figures of others. Prints every figure,
 * including missed ones; `--save` keeps them in docs/validation.md. `--every=8` takes fewer serving
 * points, `--framework sglang` composes them from SGLang's kernels.
 */
async function main(): Promise<void> {
  const log = vllmLog();
  const loop = h100ClosedLoop();
  const mooncake = [hitRates, pooledHitRates, prefillSeconds, pooledPrefillSeconds];
  const findings = [...log.findings, ...loop.findings, ...mooncake.flatMap((bars) => bars())];
  const notes = [log.note, loop.note];
  const serving = await withProgress('serving points', (onProgress) =>
    servingReport({ ...servingArguments(process.argv), onProgress }),
  );
  const listed = notes.map((note) => `* ${note}`).join('\n');
  const parts = [summary(findings), listed, tables(findings), SERVING, serving.text];
  const text = parts.join('\n\n');
  process.stdout.write(text);
  if (!process.argv.includes('--save')) return;
  writeFileSync(PAGE, page(text));
  writeFileSync(POINTS, servingPointsCsv(serving.results));
}

function summary(findings: readonly Finding[]): string {
  const aimed = findings.filter(({ aim, isFitted }) => aim !== undefined && isFitted !== true);
  const missed = aimed.filter(isMissed);
  return (
    `${findings.length} figures; of ${aimed.length} with an aim ` +
    `${aimed.length - missed.length} meet it and ${missed.length} miss it.`
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
