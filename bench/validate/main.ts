import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, isMissed, tableOf } from './finding';
import { h100ClosedLoop } from './h100-closed-loop';
import { hitRates, prefillSeconds } from './mooncake';
import { vllmLog } from './vllm-log';

const PAGE = join(__dirname, '..', '..', '..', 'docs', 'validation.md');

const HEAD =
  `# Validation\n\nWhat \`npm run validate\` prints: the virtual clock beside what ` +
  'others have measured or published. Errors are of Baton against theirs.';
const BY_HAND = '## What could not be matched, and why';

/**
 * Compares the virtual clock with what others have measured or published. Prints every figure,
 * those that are missed included; `--save` keeps them in docs/validation.md.
 */
function main(): void {
  const log = vllmLog();
  const loop = h100ClosedLoop();
  const findings = [...log.findings, ...loop.findings, ...hitRates(), ...prefillSeconds()];
  const notes = [log.note, loop.note];
  const text = `${summary(findings)}\n\n${notes
    .map((note) => `* ${note}`)
    .join('\n')}\n\n${tables(findings)}\n`;
  process.stdout.write(text);
  if (process.argv.includes('--save')) writeFileSync(PAGE, page(text));
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

/** The page is written anew up to its last chapter, which people write. */
function page(text: string): string {
  const [, byHand = ''] = readFileSync(PAGE, 'utf8').split(BY_HAND);
  return `${HEAD}\n\n${text}\n${BY_HAND}${byHand}`;
}

main();
