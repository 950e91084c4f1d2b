// Compares Baton with its peers: the same load on each system, one after another, measured from
// outside.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './measure.mjs';
import { loadgenProgram, Missing, ROOT } from './places.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { SYSTEMS } from './systems.mjs';
import { VIRTUAL_SYSTEMS, virtualRun } from './virtual.mjs';

const HELP = `npm run bench:peers -- [flags]

Measures Baton and other simulators of LLM serving under the same load. Needs Go for the load
generator, python3 with venv for the peers from PyPI, and LLMD_BIN for llm-d-inference-sim. A system
that is not here is left out, with a line that says why. Prints one JSON document.

  --systems     ${Object.keys(SYSTEMS).join(', ')}; default all
  --scenarios   ${Object.keys(SCENARIOS).join(', ')}, virtual; default all
  --rounds      runs of each, the systems in turn; default 1
  --port        first of some ports on 127.0.0.1; default 8300
  --save        write it into bench/results/peers.json, as what is measured now
`;
const UNIT_STEPS = 50_000_000;
const UNIT_RESULT = -288_021_375;

const { values } = parseArgs({
  options: {
    systems: { type: 'string', default: Object.keys(SYSTEMS).join() },
    scenarios: { type: 'string', default: [...Object.keys(SCENARIOS), 'virtual'].join() },
    rounds: { type: 'string', default: '1' },
    port: { type: 'string', default: '8300' },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else await main();

async function main() {
  const live = values.scenarios.split(',').filter((name) => name !== 'virtual');
  const loadgen = live.some((name) => SCENARIOS[name]?.flags) ? loadgenProgram() : undefined;
  const runs = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const scenario of live) {
      for (const system of values.systems.split(',')) {
        runs.push(...(await liveRun(system, scenario, loadgen)));
      }
    }
    if (values.scenarios.includes('virtual')) {
      for (const system of Object.keys(VIRTUAL_SYSTEMS)) runs.push(...attempt(system));
    }
  }
  const result = { ...conditions(), runs };
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  if (values.save) save(result);
}

async function liveRun(name, scenario, loadgen) {
  const system = SYSTEMS[name];
  process.stderr.write(`${scenario} ${name} …\n`);
  try {
    const work = { scenario: SCENARIOS[scenario], port: Number(values.port), loadgen };
    const figures = await measure(system, work);
    return [{ scenario, system: name, version: system.version(), ...unit(), ...figures }];
  } catch (error) {
    return leftOut(name, error);
  }
}

function attempt(name) {
  process.stderr.write(`virtual ${name} …\n`);
  try {
    return [{ scenario: 'virtual', system: name, ...unit(), ...virtualRun(name) }];
  } catch (error) {
    return leftOut(name, error);
  }
}

function leftOut(name, error) {
  const what = error instanceof Missing ? 'is not available' : 'failed';
  process.stderr.write(`${name} ${what}: ${error.message}\n`);
  return [];
}

/**
 * Machines differ by a factor of four. Their unit: steps of a fixed loop per CPU second, in
 * millions.
 */
function unit() {
  const before = process.cpuUsage();
  let x = 1;
  for (let i = 0; i < UNIT_STEPS; i++) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  const { user } = process.cpuUsage(before);
  // The compiler keeps the loop only where its result is used.
  if (x !== UNIT_RESULT) throw new Error('the loop of the machine unit computes something else');
  return { machine_unit: Math.round(UNIT_STEPS / user) };
}

function conditions() {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`,
    command: `npm run bench:peers -- ${process.argv.slice(2).join(' ')}`.trimEnd(),
  };
}

/** `before` stays: another harness measured it. */
function save(result) {
  const path = join(ROOT, 'bench', 'results', 'peers.json');
  const { before } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify({ before, now: result }, null, 2)}\n`);
}
