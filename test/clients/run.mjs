// Published clients, as their users install them, in front of Baton with its defaults: each suite
// of `suites/` in a separate environment, once per dialect. Needs python3 with venv, and PyPI.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPackages } from '../../scripts/pypi.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'clients');
const DIALECTS = ['openai', 'vllm'];
const SUITE_MS = 1_800_000;
const HELP = `npm run test:clients, or node test/clients/run.mjs [suite…]

Installs each client from PyPI into node_modules/.cache/clients and runs its suite against "baton up 1A" in both
dialects. Without names: all of ${names().join(', ')}.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  if (args.includes('--help')) return say(HELP, 0);
  const unknown = args.find((name) => !names().includes(name));
  if (unknown !== undefined) return say(`There is no suite ${unknown}. ${HELP}`, 2);
  const total = { passed: 0, failed: 0 };
  const suites = (args.length > 0 ? args : names()).map(installed);
  for (const dialect of DIALECTS) {
    const baton = await started(dialect);
    const failedBefore = total.failed;
    for (const suite of suites) await run(suite, { dialect, server: baton.env, total });
    await baton.stop();
    if (total.failed > failedBefore) say(`\nBaton wrote:\n${baton.output()}`);
  }
  return say(`${total.passed} passed, ${total.failed} failed\n`, total.failed === 0 ? 0 : 1);
}

function say(text, code) {
  process.stdout.write(text);
  return code;
}

/** The suites have the names of their requirements. */
function names() {
  return readdirSync(join(HERE, 'requirements')).map((file) => file.replace('.txt', ''));
}

function installed(name) {
  const requirements = join(HERE, 'requirements', `${name}.txt`);
  const versions = readFileSync(requirements, 'utf8').trim().split('\n').join(', ');
  const venv = join(CACHE, name);
  try {
    mkdirSync(CACHE, { recursive: true });
    installPackages(venv, requirements);
    return { name, versions, python: join(venv, 'bin', 'python') };
  } catch (error) {
    return { name, versions, reason: `cannot be installed: ${error.message.split('\n')[0]}` };
  }
}

/** A suite that cannot be installed, hangs or crashes counts as failed. */
async function run({ name, versions, python, reason }, { dialect, server, total }) {
  process.stdout.write(`\n${name} (${versions}), ${dialect}\n`);
  const output =
    python === undefined ? `FAILED  ${reason}\n` : await suiteOutput(name, python, server);
  process.stdout.write(output);
  const [, passed = 0, failed = 1] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? [];
  total.passed += Number(passed);
  total.failed += Number(failed);
}

async function suiteOutput(name, python, server) {
  const suite = join(HERE, 'suites', `${name.replaceAll('-', '_')}_suite.py`);
  // Without them, LiteLLM first loads prices and tokenizers from the internet.
  const offline = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', HF_HUB_OFFLINE: '1' };
  const env = { ...process.env, ...offline, ...server };
  try {
    return (await promisify(execFile)(python, [suite], { env, timeout: SUITE_MS })).stdout;
  } catch (error) {
    const { stdout, stderr = '', message } = error;
    return stdout || `FAILED  ${stderr.trim().split('\n').at(-1) || message}\n`;
  }
}

/** Baton with its defaults, except for its ports and the dialect. */
async function started(dialect) {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const ports = ['--port', String(port), '--grpc-health-port', String(grpcPort)];
  const flags = ['up', '1A', ...ports, '--dialect', dialect];
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'baton'), ...flags]);
  const url = `http://127.0.0.1:${port}`;
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  child.stdout.on('data', (chunk) => (output += chunk));
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`baton up ended:\n${output}`);
  }
  const gone = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    const [code, signal] = await gone;
    if (code !== 0) output += `baton up ended with ${signal ?? `exit code ${code}`}\n`;
  };
  const env = { CLIENTS_URL: url, CLIENTS_GRPC: `127.0.0.1:${grpcPort}` };
  return { env, output: () => output, stop };
}

async function isReady(url) {
  try {
    return (await fetch(`${url}/health/ready`)).ok;
  } catch {
    return new Promise((resolve) => setTimeout(resolve, 100, false));
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
