import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestCluster } from '../support/cluster';
import { type TimedRun, untilNotVoid } from '../support/on-time';
import { waitUntil } from '../support/wait';
import type { Attack } from './attack';
import { type AttackCost, attackCost } from './attack-cost';
import { LoopWatches, type Watched } from './loop-watches';
import { type Cost, memoryOf, ProcessCost } from './process-cost';
import { ATTACKS } from './rows';
import { type Fare, Victims } from './victims';

/** Maximum effect on another client's request, ms. */
const MOST_MS = 100;
/** CPU time for which one request may hold the event loop, ms. */
const MOST_HELD_MS = 20;
/**
 * Maximum CPU time of a request, ms: 2 s in a thread, which a check every 50 ms ends, and the rest
 * on the loop.
 */
const MOST_CPU_MS = 2_500;
/** CPU time for code and vocabulary of a thread that starts for the request, ms. */
const THREAD_START_MS = 1_000;
/** Maximum memory of a request, and the base memory of a thread, MiB. */
const MOST_MIB = 256 + 64;
/** Number of requests that are processed at once. */
const THREADS = 2;
/** Maximum memory of the API after all attacks, as a multiple of that before. */
const MOST_MEMORY = 1.2;
/**
 * Limit for /health without an attack, right before and after a row, ms. A slower machine voids the
 * row.
 */
const MOST_CALM_MS = 50;
/** Time of the machine without load, before and after each attack, ms. */
const CALM_MS = 2_000;
/** Minimum time over which the gaps of a stream are judged, ms. */
const WATCHED_MS = 3_000;
/** Limit for the wait of a process, or of the test, for a CPU, ms. A longer wait voids the row. */
const MOST_WAITED_MS = 20;
const FLAGS = [
  '--step-time=constant',
  '--time-to-first-token=5',
  '--inter-token-latency=20',
  '--image-tokens=64',
];

interface Answered {
  readonly status: number;
  readonly text: string;
}

let watches: LoopWatches;
let cluster: TestCluster;
let apiPid: number;
let victims: Victims;
let sender: Worker;
let memoryBefore: number;

beforeAll(async () => {
  watches = new LoopWatches();
  cluster = await TestCluster.start({ topology: '1A', flags: FLAGS, env: watches.env });
  apiPid = await cluster.apiPid();
  sender = new Worker(new URL('sender.mjs', import.meta.url));
  victims = await Victims.start(cluster.baseUrl);
  await victims.fareDuring(Promise.resolve(), CALM_MS);
  memoryBefore = memoryOf(apiPid);
  victims.stop();
});

afterAll(async () => {
  await sender.terminate();
  await cluster.stop();
  watches.close();
});

async function sendAll(
  { path, body, isZipped, ...how }: Omit<Attack, 'title' | 'statuses'>,
  id = '',
): Promise<readonly Answered[]> {
  const made = body();
  const text = (typeof made === 'string' ? made : JSON.stringify(made)).replace('{id}', id);
  const url = `${cluster.baseUrl}${path.replace('{id}', id)}`;
  const bytes = isZipped === true ? gzipSync(text) : Buffer.from(text);
  const { times = 1, way = 'request', method = 'POST' } = how;
  const answered = once(sender, 'message') as Promise<[readonly Answered[]]>;
  sender.postMessage({ url, bytes, times, way, method, isZipped });
  return (await answered)[0];
}

/** The id of an attack's first request. */
async function begun({ first }: Attack): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const [answer] = await sendAll(first);
  expect(answer?.status, answer?.text).toBe(200);
  return /"id":"([^"]+)"/.exec(answer?.text ?? '')?.[1];
}

type Seen = Fare & Watched & Cost;

async function watched(sent: Promise<unknown>, ms: number): Promise<Seen> {
  watches.begin();
  const api = new ProcessCost(apiPid);
  const fare = await victims.fareDuring(sent, ms);
  return { ...fare, ...api.end(), ...(await watches.end(apiPid)) };
}

function shown({ heldMs, waitedMs, healthMs, gapP99Ms }: Seen): string {
  return [heldMs, waitedMs, healthMs, gapP99Ms].map((ms) => ms.toFixed(0)).join('/');
}

function report({ title }: Attack, answers: readonly Answered[], seen: readonly Seen[]): void {
  const statuses = [...new Set(answers.map(({ status }) => status))].join(' ');
  const [before, during] = seen as [Seen, Seen];
  const { cpuMs, mib, heldMs } = attackCost(before, during);
  process.stdout.write(
    `${title}: ${statuses}; ${(cpuMs / 1_000).toFixed(1)} s of CPU time, ${mib.toFixed(0)} MiB, ` +
      `loop held ${heldMs.toFixed(0)} ms; ` +
      `held/waited/health/gap p99 before, during and after, ms: ${seen.map(shown).join(', ')}\n`,
  );
}

/** Memory is reliable on a busy machine too. */
function expectMemory({ mib }: AttackCost, { times = 1 }: Attack): void {
  expect(mib, 'MiB').toBeLessThan(MOST_MIB * Math.min(times, THREADS));
}

/** So is the CPU time of one thread, unless it waited for seconds. */
function expectHeld({ heldMs }: AttackCost): void {
  expect(heldMs, 'event loop held, ms of CPU time').toBeLessThan(MOST_HELD_MS);
}

/** The reason why the times of a row are void; null when they show the effect of the attack. */
function lateness([before, during, after]: readonly [Seen, Seen, Seen]): string | null {
  const healthMs = Math.max(before.healthMs, after.healthMs);
  if (healthMs > MOST_CALM_MS) {
    return `without an attack /health took ${healthMs.toFixed(0)} ms`;
  }
  const waitedMs = Math.max(before.waitedMs, during.waitedMs, after.waitedMs);
  return waitedMs > MOST_WAITED_MS ? `a process waited ${waitedMs.toFixed(0)} ms for a CPU` : null;
}

async function attempt(attack: Attack): Promise<TimedRun> {
  const id = await begun(attack);
  const before = await watched(Promise.resolve(), CALM_MS);
  const sent = sendAll(attack, id);
  const during = await watched(sent, WATCHED_MS);
  const answers = await sent;
  const after = await watched(Promise.resolve(), CALM_MS);
  report(attack, answers, [before, during, after]);
  for (const answer of answers) {
    expect(attack.statuses, JSON.stringify(answer)).toContain(answer.status);
  }
  const cost = attackCost(before, during);
  expectMemory(cost, attack);
  if (!cost.isHeldVoid) expectHeld(cost);
  const { times = 1 } = attack;
  const mostCpuMs = MOST_CPU_MS * times + THREAD_START_MS * Math.min(times, THREADS);
  const check = (): void => {
    expectHeld(cost);
    // V8's threads that collect garbage spin while one of them waits for a CPU.
    expect(cost.cpuMs, 'ms of CPU time').toBeLessThan(mostCpuMs);
    // The time that a process waits for a CPU is the machine's, and not what the attack costs.
    const { gapP99Ms, healthMs, waitedMs } = during;
    expect(gapP99Ms - waitedMs, 'gap p99, ms').toBeLessThan(before.gapP99Ms + MOST_MS);
    expect(healthMs - waitedMs, '/health, ms').toBeLessThan(MOST_MS);
  };
  return { check, void: lateness([before, during, after]) };
}

describe('a request that takes long to process', () => {
  it.each(ATTACKS)('does not disturb other clients: $title', async (attack) => {
    await untilNotVoid(async () => {
      victims = await Victims.start(cluster.baseUrl);
      try {
        return await attempt(attack);
      } finally {
        victims.stop();
      }
    });
  });

  it('leaves no memory behind', async () => {
    const isAsBefore = (): Promise<boolean> =>
      Promise.resolve(memoryOf(apiPid) <= memoryBefore * MOST_MEMORY);
    await waitUntil(isAsBefore, { what: 'the API has given its memory back' });
  });
});
