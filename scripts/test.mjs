// Runs test suites and ends with the line `N passed, N failed`, which covers all of them. Without
// names it runs those of `npm test`. Names add suites, `--only` runs only the named ones, `all` is
// every suite, with property tests in full. Exit code: 0 all passed, 1 some failed, 2 wrong usage.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './root.mjs';
import { DEFAULT, SUITES } from './suites.mjs';

const BIN = join(ROOT, 'node_modules', '.bin');
const REPORTERS = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs'];
/** Runs at the same time as the suite before, because it mostly waits. */
const BESIDE = { e2e: 'laws' };

const total = { passed: 0, failed: 0 };
/** One line for each failure. The end repeats them, where a reader of a long log looks first. */
const failures = [];

async function main(args) {
  const isAll = args.includes('all');
  const named = args.filter((arg) => arg !== '--only' && arg !== 'all');
  const unknown = named.find((name) => SUITES[name] === undefined);
  if (unknown !== undefined) return complain(unknown);
  if (isAll) process.env.PROPERTY_RUNS = 'full';
  const first = args.includes('--only') ? [] : DEFAULT;
  await runAll(isAll ? Object.keys(SUITES) : [...new Set([...first, ...named])]);
  if (failures.length > 0) process.stdout.write(`\nFailed:\n  ${failures.join('\n  ')}\n`);
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 ? 0 : 1;
}

function complain(unknown) {
  const known = Object.entries(SUITES).map(([name, { what }]) => `  ${name.padEnd(11)} ${what}\n`);
  process.stderr.write(`There is no suite ${unknown}. The suites are:\n${known.join('')}`);
  return 2;
}

async function runAll(names) {
  for (let i = 0; i < names.length; i += 1) {
    const together = [names[i]];
    while (BESIDE[names[i + 1]] === names[i]) together.push(names[(i += 1)]);
    await Promise.all(together.map((name) => runSuite(name, together.length > 1)));
  }
}

/** A suite that runs beside another one prints at its end, so that lines do not mix. */
async function runSuite(name, isBeside) {
  const { install, lanes } = SUITES[name];
  const startedMs = performance.now();
  const isLate = isBeside && BESIDE[name] !== undefined;
  process.stdout.write(`\n${name}${isLate ? ' (its lines follow at its end)' : ''}\n`);
  try {
    const folders = (await install?.()) ?? [];
    const PATH = [...folders, process.env.PATH].join(delimiter);
    await Promise.all(lanes().map((steps) => runLane(steps, { PATH }, isLate)));
  } catch (error) {
    count({ passed: 0, failed: 1, failures: [`${name}: ${error.message}`] });
    process.stdout.write(`FAILED  ${error.message}\n`);
  }
  process.stdout.write(`${name}: ${seconds(startedMs)} s\n`);
}

async function runLane(steps, env, isLate) {
  for (const step of steps) await RUNNERS[step.kind](step, env, isLate);
}

const RUNNERS = {
  async check({ command, name = command, args, env: own }, env) {
    const startedMs = performance.now();
    const { code, output } = await execute([command, ...args], { ...env, ...own }, false);
    const failed = code === 0 ? [] : [name];
    count({ passed: 1 - failed.length, failed: failed.length, failures: failed });
    process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${name} (${seconds(startedMs)} s)\n`);
    if (code !== 0) process.stdout.write(output);
  },

  async vitest({ command, args, env: own }, env, isLate) {
    const folder = mkdtempSync(join(tmpdir(), 'baton-counts-'));
    const file = join(folder, 'counts.json');
    const run = [command, ...args, ...REPORTERS];
    const vars = { ...env, ...own, TEST_COUNTS: file };
    const { code, output } = await execute(run, vars, !isLate);
    if (isLate) process.stdout.write(output);
    const { passed, failed, skipped, failures: found } = readCounts(file);
    rmSync(folder, { recursive: true });
    if (skipped > 0) found.push(`${skipped} tests were skipped`);
    // A skipped test is not a passed one.
    count({ passed, failed: failed + skipped, failures: found }, code);
  },

  async program({ command, args }, env) {
    const { code, output } = await execute([command, ...args], env, true);
    const [, passed, failed] = /^(\d+) passed, (\d+) failed\s*$/m.exec(output) ?? [];
    const ok = code === 0 ? 1 : 0;
    const counts = { passed: Number(passed ?? ok), failed: Number(failed ?? 1 - ok) };
    const name = [command, ...args].join(' ');
    count({ ...counts, failures: counts.failed > 0 ? [`${counts.failed} of ${name}`] : [] }, code);
  },
};

/** A run that fails counts as a failure even without a failed test. */
function count({ passed, failed, failures: found }, code = 0) {
  total.passed += passed;
  total.failed += failed;
  failures.push(...found);
  if (code === 0 || failed > 0) return;
  total.failed += 1;
  failures.push(`a run ended with exit code ${code}, without a failed test`);
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0, failures: ['a run of tests wrote no counts'] };
  }
}

function seconds(sinceMs) {
  return ((performance.now() - sinceMs) / 1000).toFixed(1);
}

function execute([command, ...args], env, isShown) {
  return new Promise((resolve) => {
    const PATH = [BIN, env.PATH].join(delimiter);
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, PATH },
    });
    let output = '';
    const collect = (text) => {
      output += text;
      if (isShown) process.stdout.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ code: 1, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

process.exitCode = await main(process.argv.slice(2));
