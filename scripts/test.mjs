// Runs what a change must pass and ends with the line `N passed, N failed`. A check (format, lint, types, layers) counts as one test.
// `node scripts/test.mjs` runs all; `--without-e2e` leaves out the suites that start real processes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, 'node_modules', '.bin');
const E2E = 'test/e2e';
const REPORTERS = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs'];

/** Two at a time: eslint takes as long as all others. */
const ESLINT = [['eslint', '--max-warnings', '0', '.']];
const OTHERS = [
  ['prettier', '--check', '--log-level', 'warn', '.'],
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '-p', 'apps/ui'],
  [
    'depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'err',
    'apps',
    'libs',
    'bench',
  ],
];

const total = { passed: 0, failed: 0 };
await Promise.all([ESLINT, OTHERS].map(runInTurn));
await runSuite('unit', ['--exclude', `${E2E}/**`]);
if (!process.argv.includes('--without-e2e')) await runSuite('e2e', [E2E, '--no-file-parallelism']);
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runInTurn(checks) {
  for (const check of checks) await runCheck(check);
}

async function runCheck([tool, ...args]) {
  const startedMs = performance.now();
  const { code, output } = await execute(tool, args, 'pipe');
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? 'ok' : 'FAILED'}  ${tool} (${seconds} s)\n`);
  if (code === 0) total.passed += 1;
  else {
    total.failed += 1;
    process.stdout.write(output);
  }
}

async function runSuite(name, args) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-counts-'));
  const file = join(folder, 'counts.json');
  process.stdout.write(`\n${name}\n`);
  const { code } = await execute('vitest', ['run', ...args, ...REPORTERS], 'inherit', {
    TEST_COUNTS: file,
  });
  const counts = readCounts(file);
  rmSync(folder, { recursive: true });
  total.passed += counts.passed;
  // A skipped test is not a passed one, and a run that ends badly has failed even when it counted nothing.
  const failed = counts.failed + counts.skipped;
  total.failed += code !== 0 && failed === 0 ? 1 : failed;
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function execute(tool, args, output, env = {}) {
  return new Promise((resolve) => {
    const stdio = output === 'pipe' ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'];
    const child = spawn(join(BIN, tool), args, {
      cwd: ROOT,
      stdio,
      env: { ...process.env, ...env },
    });
    let text = '';
    const collect = (chunk) => (text += chunk);
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => resolve({ code: 1, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output: text }));
  });
}
