// Runs test suites and ends with the line `N passed, N failed`, which covers all of them. Without
// names it runs those of `npm test`. Names add suites, `--only` runs only the named ones, `all` is
// every suite, with property tests in full. It begins with what it runs and how long that took here
// last time, and says every 15 s how far each suite is. Exit code: 0 all passed, 1 some failed, 2
// wrong usage.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { ROOT } from './root.mjs';
import { DEFAULT, SUITES } from './suites.mjs';
import { keepSeconds, keptSeconds } from './suite-times.mjs';

const BIN = join(ROOT, 'node_modules', '.bin');
const REPORTERS = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs'];
/** Runs at the same time as the suite before, because it mostly waits. */
const BESIDE = { e2e: 'laws' };

const PROGRESS_MS = 15_000;

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
  const groups = grouped(isAll ? Object.keys(SUITES) : [...new Set([...first, ...named])]);
  process.stdout.write(outlook(groups));
  for (const together of groups) await Promise.all(together.map(runSuite));
  if (failures.length > 0) process.stdout.write(`\nFailed:\n  ${failures.join('\n  ')}\n`);
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 ? 0 : 1;
}

function complain(unknown) {
  const known = Object.entries(SUITES).map(([name, { what }]) => `  ${name.padEnd(11)} ${what}\n`);
  process.stderr.write(`There is no suite ${unknown}. The suites are:\n${known.join('')}`);
  return 2;
}

/** Suites that run at the same time, in order. */
function grouped(names) {
  const groups = [];
  for (const name of names) {
    if (groups.length > 0 && BESIDE[name] === groups.at(-1)[0]) groups.at(-1).push(name);
    else groups.push([name]);
  }
  return groups;
}

/** The suites, and the time that they took on this machine. */
function outlook(groups) {
  const last = keptSeconds();
  const line = (name, also) => {
    const took = last[name] === undefined ? 'not yet run here' : `${spell(last[name])} last time`;
    return `  ${name.padEnd(11)} ${SUITES[name].what}${also}: ${took}\n`;
  };
  const lines = groups.flatMap(([first, ...others]) => [
    line(first, ''),
    ...others.map((name) => line(name, `, beside ${first}`)),
  ]);
  const slowest = groups.map((names) => Math.max(...names.map((name) => last[name] ?? NaN)));
  const sum = slowest.reduce((all, seconds) => all + seconds, 0);
  const all = Number.isNaN(sum) ? '' : `, about ${spell(sum)}`;
  return `Runs${all}:\n${lines.join('')}`;
}

function spell(seconds) {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

async function runSuite(name) {
  const { install, lanes } = SUITES[name];
  const startedMs = performance.now();
  const failedBefore = total.failed;
  const last = keptSeconds()[name];
  const of = last === undefined ? '' : ` of about ${spell(last)}`;
  process.stdout.write(`\n${name} begins\n`);
  const progress = { text: 'starting' };
  const timer = setInterval(() => {
    refresh(progress);
    process.stdout.write(`${name}: ${progress.text}, ${seconds(startedMs)} s${of}\n`);
  }, PROGRESS_MS);
  try {
    const folders = (await install?.()) ?? [];
    const PATH = [...folders, process.env.PATH].join(delimiter);
    await Promise.all(lanes().map((steps) => runLane(steps, { PATH }, progress)));
  } catch (error) {
    count({ passed: 0, failed: 1, failures: [`${name}: ${error.message}`] });
    process.stdout.write(`FAILED  ${error.message}\n`);
  }
  clearInterval(timer);
  process.stdout.write(`${name} ends: ${progress.text}, ${seconds(startedMs)} s\n`);
  if (total.failed === failedBefore) keepSeconds(name, Number(seconds(startedMs)));
}

/** Reads what a run of vitest has written since. */
function refresh(progress) {
  if (progress.file === undefined || !existsSync(progress.file)) return;
  progress.text = readFileSync(progress.file, 'utf8');
}

async function runLane(steps, env, progress) {
  for (const step of steps) await RUNNERS[step.kind](step, env, progress);
}

const RUNNERS = {
  async check({ command, name = command, args, env: own }, env, progress) {
    const startedMs = performance.now();
    progress.text = name;
    const { code, output } = await execute([command, ...args], { ...env, ...own });
    const failed = code === 0 ? [] : [name];
    count({ passed: 1 - failed.length, failed: failed.length, failures: failed });
    process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${name} (${seconds(startedMs)} s)\n`);
    if (code !== 0) process.stdout.write(output);
  },

  /** Its own lines, one or more a file, are shown only from its failures on. */
  async vitest({ command, args, env: own }, env, progress) {
    const folder = mkdtempSync(join(tmpdir(), 'baton-counts-'));
    const file = join(folder, 'counts.json');
    progress.file = `${file}.progress`;
    const run = [command, ...args, ...REPORTERS];
    const vars = { ...env, ...own, TEST_COUNTS: file };
    const { code, output } = await execute(run, vars);
    refresh(progress);
    if (code !== 0) process.stdout.write(output.slice(Math.max(0, output.indexOf('⎯⎯⎯'))));
    const { passed, failed, skipped, failures: found } = readCounts(file);
    rmSync(folder, { recursive: true });
    if (skipped > 0) found.push(`${skipped} tests were skipped`);
    // A skipped test is not a passed one.
    count({ passed, failed: failed + skipped, failures: found }, code);
  },

  /** Its own lines are shown at once. The last one is its progress, the last count its result. */
  async program({ command, args }, env, progress) {
    const { code, output } = await execute([command, ...args], env, {
      onText(text) {
        process.stdout.write(text);
        progress.text = text.trimEnd().split('\n').at(-1) || progress.text;
      },
    });
    const [, passed, failed] =
      [...output.matchAll(/^(\d+) passed, (\d+) failed\s*$/gm)].at(-1) ?? [];
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

/** Resolves to the exit code and all output. */
function execute([command, ...args], env, { onText } = {}) {
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
      onText?.(text);
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', (error) => resolve({ code: 1, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

process.exitCode = await main(process.argv.slice(2));
