// Counts the functions that a chat enters, with V8's precise coverage: `node chat-run.mjs <build>`.
// The cluster is 1P1D over the in-process transport, with the default options but for its ports.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROUNDS = 3;
/** Twice the period of the slowest background work: an idle engine announces itself every 5 s. */
const IDLE_MS = 11_000;
/** Longer than the answer takes: its last effects (metrics, clean-up) belong to the request. */
const SETTLE_MS = 500;
const READY_MS = 30_000;

const build = process.argv[2];
const prefix = `${pathToFileURL(build)}/`;
const require = createRequire(join(build, 'main.js'));
const { ClusterFixture } = require(join(build, 'apps/api/test/cluster-fixture.js'));

const { defaultConfig } = require(join(build, 'libs/config/src/index.js'));
const options = defaultConfig({ topology: '1P1D', port: 0, logLevel: 'silent' });
const cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, options);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await untilReady();
await chat();
await pause(SETTLE_MS);
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const idle = [];
const asked = [];
for (let round = 0; round < ROUNDS; round++) {
  await session.post('Profiler.takePreciseCoverage');
  await pause(IDLE_MS);
  idle.push(await calls());
  await chat();
  await pause(SETTLE_MS);
  asked.push(await calls());
}
session.disconnect();
await cluster.stop();

const seen = [...new Set(asked.flatMap((counts) => [...counts.keys()]))];
const entered = seen.filter((key) => median(asked, key) > most(idle, key));
const functions = entered.map((key) => {
  const [, file, name] = /^(.+)\.js#(.*)@\d+$/.exec(key);
  return { file: `${file}.ts`, name };
});
process.stdout.write(`\n${JSON.stringify(functions)}\n`);
process.exit(0);

/** Calls of each function of the product since the previous call of this one. */
async function calls() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const counts = new Map();
  for (const { url, functions } of result) {
    if (!url.startsWith(prefix) || !/\/src\//.test(url)) continue;
    const written = ofTheSource(fileURLToPath(url));
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset }] = ranges;
      const key = `${url.slice(prefix.length)}#${functionName}@${startOffset}`;
      if (count > 0 && written(functionName, startOffset)) counts.set(key, count);
    }
  }
  return counts;
}

/**
 * Distinguishes functions of the source from those that the compiler adds: getters of exports, lazy
 * imports.
 */
function ofTheSource(path) {
  const text = readFileSync(path, 'utf8');
  const exported = [...text.matchAll(/^(_export\(|Object\.defineProperty\()exports.*?^\}\);/gms)];
  return (name, at) =>
    !name.startsWith('_') &&
    exported.every(({ index, 0: block }) => at < index || at >= index + block.length);
}

function median(rounds, key) {
  const counts = rounds.map((round) => round.get(key) ?? 0).sort((a, b) => a - b);
  return counts[Math.floor(counts.length / 2)];
}

function most(rounds, key) {
  return Math.max(...rounds.map((round) => round.get(key) ?? 0));
}

/** @throws Error when no engine is ready within 30 s */
async function untilReady() {
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await pause(50)) {
    const { ok } = await fetch(`${cluster.api.url}/health/ready`);
    if (ok) return;
  }
  throw new Error(`the cluster is not ready after ${READY_MS} ms`);
}

async function chat() {
  const answer = await fetch(`${cluster.api.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Say something about batons.' }],
      max_tokens: 4,
      stream: true,
    }),
  });
  const text = await answer.text();
  if (!answer.ok || !text.endsWith('data: [DONE]\n\n')) throw new Error(`no stream: ${text}`);
}
