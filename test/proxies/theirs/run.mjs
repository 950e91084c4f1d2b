/* global clearTimeout */
// Runs proxies of other projects, unmodified, each in front of a separate cluster, and sends the
// battery through them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { judged } from '../judge.mjs';
import { installed } from './install.mjs';
import { PROXIES } from './proxies.mjs';

const HELP = `node test/proxies/theirs/run.mjs [--only TEXT]

Fetches vLLM's proxies, vllm-router and sglang-router from PyPI (needs python3 and tar; 100 MB, kept in
node_modules/.cache), starts each in front of baton up 1P1D --dialect vllm --expose-engines, and sends
the battery of npm run judge:proxy through it. Exit code: 0 all is well, 1 something is not.

  --only TEXT   the proxies whose name has it: ${PROXIES.map(({ name }) => name).join('; ')}
`;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODEL = 'llama-3.1-8b';
const READY_MS = 60_000;
const SETTLE_MS = 45_000;
const LOOK_MS = 200;

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, help: { type: 'boolean', default: false } },
});
process.exitCode = values.help ? help() : await main(values.only);

function help() {
  process.stdout.write(HELP);
  return 0;
}

async function main(only) {
  const chosen = PROXIES.filter(({ name }) => name.includes(only));
  if (chosen.length === 0) {
    process.stderr.write(`There is no proxy ${only}.\n`);
    return 2;
  }
  let wrong = 0;
  try {
    const places = await installed();
    for (const proxy of chosen) wrong += await tryProxy(proxy, places);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  return wrong === 0 ? 0 : 1;
}

/** @returns the number of failed cases */
async function tryProxy({ name, command, flags = [], conversationId = false, transfers }, places) {
  process.stdout.write(`${name}\n`);
  const [cluster, prefill, decode, port, freePort] = await freePorts(5);
  const exposed = ['--dialect', 'vllm', '--expose-engines', '--expose-engines-port', prefill];
  const up = start([
    ...[process.execPath, 'bin/baton', 'up', '1P1D', '--port', cluster, ...exposed, ...flags],
  ]);
  let proxy;
  try {
    const url = `http://127.0.0.1:${cluster}/`;
    await ready(up, `${url}health/ready`);
    const engineId = await engineIdOf(prefill);
    proxy = start(command({ ...places, port, prefill, decode, freePort, model: MODEL, engineId }));
    await ready(proxy, `http://127.0.0.1:${port}/`);
    const proxies = [`http://127.0.0.1:${port}/`];
    const asked = { cluster: url, proxies, settleMs: SETTLE_MS, model: MODEL, only: '' };
    return await judged({ ...asked, conversationId, transfers });
  } finally {
    await stop(proxy);
    await stop(up);
  }
}

/** vLLM sets an engine's id by `--kv-transfer-config`. Baton's engine reports its own. */
async function engineIdOf(port) {
  const params = { do_remote_decode: true, do_remote_prefill: false };
  const body = { model: MODEL, prompt: 'who?', max_tokens: 1, kv_transfer_params: params };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  return (await answer.json()).kv_transfer_params.remote_engine_id;
}

function start(command) {
  const [program, ...args] = command.map(String);
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const started = { child, log: '', gone: undefined };
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text) => (started.log += text));
  }
  child.once('error', (error) => (started.log += error.message));
  started.gone = once(child, 'close');
  return started;
}

/** Waits for an answer with any status below 500. */
async function ready(started, url) {
  const endMs = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return;
    const { exitCode } = started.child;
    if (exitCode !== null || Date.now() > endMs) {
      const last = started.log.trim().split('\n').slice(-5).join('\n');
      throw new Error(`${started.child.spawnfile} does not answer at ${url}:\n${last}`);
    }
    await delay(LOOK_MS);
  }
}

async function stop(started) {
  if (started === undefined) return;
  started.child.kill('SIGTERM');
  const timer = setTimeout(() => started.child.kill('SIGKILL'), READY_MS / 4);
  await started.gone;
  clearTimeout(timer);
}

/** Consecutive ports, one for each engine. */
async function freePorts(count) {
  for (;;) {
    const first = await portOf(0);
    const rest = Array.from({ length: count - 1 }, (_, i) => portOf(first + 1 + i));
    const ports = await Promise.all([first, ...rest]).catch(() => undefined);
    if (ports !== undefined) return ports;
  }
}

function portOf(wanted) {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
