// One system under one scenario: start, wait for an answer, load, stop.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, pssMiB, treeOf } from './processes.mjs';

const READY_MS = 60_000;
const STOP_MS = 8_000;
const SETTLE_MS = 3_000;
const IDLE_SECONDS = 10;

/** @returns the figures @throws Error when the system does not answer or the load fails */
export async function measure(system, { scenario, port, loadgen }) {
  const folder = mkdtempSync(join(tmpdir(), 'peers-'));
  const { flags, ...times } = scenario;
  const { commands, model, firstMs } = system.start({ ...times, port, folder });
  const log = join(folder, 'log');
  const beganMs = performance.now();
  const servers = commands.map((command) => started(command, log));
  try {
    await untilAnswered({ servers, port, model, log });
    const ready_s = (performance.now() - beganMs) / 1_000;
    const roots = servers.map(({ pid }) => pid);
    if (flags === undefined) return { ready_s, ...(await idle(roots)) };
    await pause(1_000);
    const asked = [
      ...[`--address=127.0.0.1:${port}`, `--model=${model}`, `--pids=${roots.join(',')}`],
      ...[`--itl=${times.itlMs}`, `--ttft=${firstMs}`, ...flags],
    ];
    return { ready_s, ...JSON.parse(execFileSync(loadgen, asked, { encoding: 'utf8' })) };
  } finally {
    await Promise.all(servers.map(stopped));
    rmSync(folder, { recursive: true, force: true });
  }
}

function started({ program, args, env = {} }, log) {
  const output = openSync(log, 'a');
  const child = spawn(program, args.map(String), {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', output, output],
  });
  child.on('error', () => undefined);
  return child;
}

async function untilAnswered({ servers, port, model, log }) {
  const endMs = performance.now() + READY_MS;
  const hasEnded = ({ exitCode, pid }) => exitCode !== null || pid === undefined;
  while (performance.now() < endMs && !servers.some(hasEnded)) {
    if (await answers(port, model)) return;
    await pause(20);
  }
  throw new Error(`it did not answer: ${readFileSync(log, 'utf8').slice(-2_000)}`);
}

async function answers(port, model) {
  const body = JSON.stringify({ model, prompt: 'hello', max_tokens: 1 });
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${port}/v1/completions`;
  try {
    const answer = await fetch(url, { method: 'POST', headers, body });
    return answer.ok && (await answer.text()).includes('choices');
  } catch {
    return false;
  }
}

async function idle(roots) {
  await pause(SETTLE_MS);
  const pids = treeOf(roots);
  const before = cpuSeconds(pids);
  await pause(IDLE_SECONDS * 1_000);
  return {
    idle_cores: (cpuSeconds(pids) - before) / IDLE_SECONDS,
    pss_mib: pssMiB(pids),
    processes: pids.length,
  };
}

/** Each server leads a process group of its own. */
async function stopped(child) {
  if (child.pid === undefined || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  signal(child.pid, 'SIGTERM');
  const isGone = await Promise.race([gone.then(() => true), pause(STOP_MS, false)]);
  if (isGone) return;
  signal(child.pid, 'SIGKILL');
  await gone;
}

function signal(group, name) {
  try {
    process.kill(-group, name);
  } catch {
    // It has ended meanwhile.
  }
}
