// Prints the counts of the house: `npm run house -- [checkout] [--json] [--which] [--lower]`.
// `--which` names the counted items; `--lower` lowers the ceilings of test/tidy to the present
// counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { countsOf } from './counts.mjs';
import { hopsOf } from './hops.mjs';
import { staleLayers } from './layers.mjs';
import { readTree } from './tree.mjs';

const CEILINGS = new URL('./ceilings.json', import.meta.url);

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')));
const folder = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? '.';

const tree = readTree(resolve(folder));
const hops = flags.has('--no-hops') ? [] : hopCounts(hopsOf(tree.root));
const counts = [...countsOf(tree), stale(staleLayers(tree)), ...hops];

if (flags.has('--json')) process.stdout.write(`${JSON.stringify(counts, null, 2)}\n`);
else for (const row of counts) process.stdout.write(`${line(row)}\n`);

if (flags.has('--lower')) lowerCeilings();

function lowerCeilings() {
  const before = JSON.parse(readFileSync(CEILINGS, 'utf8'));
  const rules = counts.filter(({ target }) => target !== undefined);
  const lowered = rules.map(({ name, count, target }) => [
    name,
    Math.max(target, Math.min(count + slackOf(name), before[name] ?? Infinity)),
  ]);
  writeFileSync(CEILINGS, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}

/** On a busy machine a request also enters functions for delays: up to seven more were observed. */
function slackOf(name) {
  return name.startsWith('hops of one chat') ? 10 : 0;
}

function stale(paths) {
  return { name: 'files that `npm run docs` would change', count: paths.length, worst: paths };
}

function hopCounts({ files, functions, which }) {
  return [
    { name: 'hops of one chat: files', count: files, target: 110, worst: which },
    { name: 'hops of one chat: functions', count: functions, target: 500, worst: [] },
  ];
}

function line({ name, count, target, worst }) {
  const goal = target === undefined ? '' : `target ${target.toLocaleString('en')}`;
  const row = `${name.padEnd(46)}${count.toLocaleString('en').padStart(8)}   ${goal}`.trimEnd();
  if (!flags.has('--which')) return row;
  return [row, ...worst.map((each) => `    ${each}`)].join('\n');
}
