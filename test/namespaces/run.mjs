// npm run test:namespaces: a search whose planners are in different network namespaces, as on
// different machines. Ends with `N passed, N failed`; where namespaces are not permitted, it prints
// the reason and ends with no test.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { demand, expectThat, ROOT, until } from '../compose/shell.mjs';
import { SEARCH_OPTIONS, SEARCH_SPACE } from '../support/planner-search.mjs';
import { inside, Networks, whyNot } from './networks.mjs';
import { redisProgram } from './redis-program.mjs';

const PLANNERS = 3;
const PORT = 6379;
const BATON = join(ROOT, 'bin', 'baton');

const folder = mkdtempSync(join(tmpdir(), 'baton-namespaces-'));
const socket = join(folder, 'redis.sock');
const networks = new Networks();
const started = new Set();
const count = { passed: 0, failed: 0 };

process.exitCode = await main();

async function main() {
  const reason = await whyNot();
  if (reason !== undefined) process.stdout.write(`skipped: ${reason}\n`);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => void removeAll().finally(() => process.exit(1)));
  }
  try {
    if (reason === undefined) await runAll();
  } finally {
    await removeAll();
  }
  process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
  return count.failed === 0 ? 0 : 1;
}

async function removeAll() {
  for (const child of started) child.kill('SIGKILL');
  await networks.close();
  rmSync(folder, { recursive: true, force: true });
}

async function runAll() {
  writeFileSync(join(folder, 'fleet.yaml'), SEARCH_SPACE);
  const local = await step('a local search ends', () => search(['--threads', '1']));
  const hub = await step('Redis runs in a namespace of its own', redisInHub);
  if (local === undefined || hub === undefined) return;
  const planners = await step(`planners run in ${PLANNERS} namespaces`, () => plannersBeside(hub));
  if (planners === undefined) return;
  await step('each namespace has no route but that to Redis', () => apart(planners));
  const url = `redis://127.0.0.1:${PORT}`;
  const flags = ['--planners', '--redis', url];
  const [spread] = await Promise.all([
    step('a search on them ends, though one is killed', () => search(flags, hub)),
    step('a planner is killed during its trial', () => killBusy(planners)),
  ]);
  await step('it has the bytes of the local search', () => {
    expectThat(spread === local, 'the bytes differ');
  });
  await step('trials ran in each namespace', () => ranInEach(planners));
}

/** The output of the search, on this machine or in a namespace. */
async function search(flags, namespace) {
  const options = ['--space', join(folder, 'fleet.yaml'), ...SEARCH_OPTIONS, '--json', ...flags];
  const command = [process.execPath, BATON, 'plan', ...options];
  return demand(namespace === undefined ? command : inside(namespace, command));
}

async function redisInHub() {
  const hub = await networks.hub();
  const files = ['--unixsocket', socket, '--dir', folder, '--save', ''];
  const reach = ['--port', String(PORT), '--bind', '0.0.0.0', '--protected-mode', 'no'];
  start(inside(hub, [...(await redisProgram()), ...files, ...reach]));
  await until('Redis answers', async () => {
    return existsSync(socket) && (await withRedis((redis) => redis.ping())) === 'PONG';
  });
  return hub;
}

/** Starts one planner in each namespace, and waits until Redis sees each address. */
async function plannersBeside(hub) {
  const planners = [];
  for (let number = 1; number <= PLANNERS; number += 1) {
    const spoke = await networks.spoke(hub, number);
    const redis = `redis://${spoke.hubAddress}:${PORT}`;
    const command = [process.execPath, BATON, 'up', '--role', 'planner', '--redis', redis];
    planners.push({ ...spoke, child: start(inside(spoke.name, command)) });
  }
  await withRedis((redis) =>
    until('each namespace is connected', async () => {
      const clients = await redis.client('LIST');
      return planners.every(({ address }) => clients.includes(` addr=${address}:`));
    }),
  );
  return planners;
}

async function apart(planners) {
  for (const { name, hubAddress } of planners) {
    const routes = await demand(['ip', '-n', name, 'route']);
    const isOne = !routes.includes('default') && routes.split('\n').length === 1;
    expectThat(isOne && routes.includes(hubAddress.replace(/\d+$/, '')), `${name}: ${routes}`);
  }
}

/** Kills the first planner that performs a trial while each other one has had one too. */
async function killBusy(planners) {
  const busy = await withQueue((queue) =>
    until(
      'all planners have had a trial, and one is busy',
      async () => {
        const [active, done] = await Promise.all([queue.getActive(), queue.getCompleted()]);
        const had = new Set([...active, ...done].map(plannerOf));
        const pids = active.map(plannerOf);
        if (!planners.every(({ child }) => had.has(child.pid))) return undefined;
        return planners.find(({ child }) => pids.includes(child.pid));
      },
      { everyMs: 15 },
    ),
  );
  busy.child.kill('SIGKILL');
}

async function ranInEach(planners) {
  const done = await withQueue((queue) => queue.getCompleted());
  const shares = planners.map(({ name, child }) => {
    const trials = done.filter((job) => plannerOf(job) === child.pid).length;
    return `${name}: ${trials}`;
  });
  process.stdout.write(`      trials by namespace: ${shares.join(', ')}\n`);
  const others = planners.filter(({ child }) => child.signalCode === null);
  for (const { name, child } of others) {
    expectThat(
      done.some((job) => plannerOf(job) === child.pid),
      `no trial ran in ${name}`,
    );
  }
}

function plannerOf({ progress }) {
  return progress?.planner;
}

async function withRedis(ask) {
  const redis = new Redis({ path: socket });
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}

async function withQueue(ask) {
  const queue = new Queue('baton-planner', { connection: { path: socket } });
  try {
    return await ask(queue);
  } finally {
    await queue.close();
  }
}

function start([program, ...args]) {
  const child = spawn(program, args, { stdio: 'ignore' });
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

/** @returns what `run` returns; undefined when it failed */
async function step(name, run) {
  try {
    const result = await run();
    count.passed += 1;
    process.stdout.write(`ok    ${name}\n`);
    return result ?? true;
  } catch (error) {
    count.failed += 1;
    process.stdout.write(`FAILED  ${name}\n${error.message}\n`);
    return undefined;
  }
}
