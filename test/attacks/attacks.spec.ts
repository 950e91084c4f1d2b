import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestCluster } from '../support/cluster';
import { untilNotVoid } from '../support/on-time';
import { waitUntil } from '../support/wait';
import type { Attack } from './attack';
import { ATTACKS } from './rows';
import { type Fare, Victims } from './victims';

/** What a client may see of another client's request, ms. */
const MOST_MS = 100;
/** CPU time for which one request may hold the event loop, ms. */
const MOST_HELD_MS = 50;
/** Of what the API's memory was before all attacks. */
const MOST_MEMORY = 1.2;
/**
 * A machine on which /health takes longer without an attack, right before or right after the row,
 * can show nothing about the row.
 */
const MOST_CALM_MS = 50;
/** The machine by itself, before and after each attack. */
const CALM_MS = 2_000;
/** A stream's gaps are judged by at least this many. */
const WATCHED_MS = 3_000;
/** The watch of the loop writes every 50 ms. */
const WRITTEN_MS = 120;
const LOOP_WATCH = fileURLToPath(new URL('loop-watch.cjs', import.meta.url));
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

let folder: string;
let cluster: TestCluster;
let apiPid: number;
let victims: Victims;
let sender: Worker;
let memoryBefore: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-loop-'));
  const env = { LOOP_WATCH_FOLDER: folder, NODE_OPTIONS: `--require ${LOOP_WATCH}` };
  cluster = await TestCluster.start({ topology: '1A', flags: FLAGS, env });
  apiPid = await cluster.apiPid();
  sender = new Worker(new URL('sender.mjs', import.meta.url));
  victims = await Victims.start(cluster.baseUrl);
  await victims.fareDuring(Promise.resolve(), CALM_MS);
  memoryBefore = memory();
});

afterAll(async () => {
  victims.stop();
  await sender.terminate();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

async function sendAll(
  { path, body, times = 1, method = 'POST', isSocket }: Omit<Attack, 'title' | 'statuses'>,
  id = '',
): Promise<readonly Answered[]> {
  const made = body();
  const text = (typeof made === 'string' ? made : JSON.stringify(made)).replace('{id}', id);
  const url = `${cluster.baseUrl}${path.replace('{id}', id)}`;
  const answered = once(sender, 'message') as Promise<[readonly Answered[]]>;
  sender.postMessage({ url, bytes: Buffer.from(text), times, method, isSocket });
  return (await answered)[0];
}

/** The id that the first request of an attack gets. */
async function begun({ first }: Attack): Promise<string | undefined> {
  if (first === undefined) return undefined;
  const [answer] = await sendAll(first);
  expect(answer?.status, answer?.text).toBe(200);
  return /"id":"([^"]+)"/.exec(answer?.text ?? '')?.[1];
}

/** Resident bytes of the API's process, KiB. */
function memory(): number {
  const status = readFileSync(`/proc/${apiPid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

/** The longest time for which the loop was held since `mark`, ms of CPU time. */
async function heldMs(): Promise<number> {
  await pause(WRITTEN_MS);
  return Number(readFileSync(join(folder, String(apiPid)), 'utf8'));
}

async function watched(sent: Promise<unknown>, ms: number): Promise<Fare & { held: number }> {
  process.kill(apiPid, 'SIGUSR2');
  const fare = await victims.fareDuring(sent, ms);
  return { ...fare, held: await heldMs() };
}

function shown({ held, healthMs, gapP99Ms }: Fare & { held: number }): string {
  return [held, healthMs, gapP99Ms].map((ms) => ms.toFixed(0)).join('/');
}

describe('a request that takes long to read', () => {
  it.each(ATTACKS)('does not disturb other clients: $title', async (attack) => {
    const id = await begun(attack);
    await untilNotVoid(async () => {
      const before = await watched(Promise.resolve(), CALM_MS);
      const sent = sendAll(attack, id);
      const fare = await watched(sent, WATCHED_MS);
      const answers = await sent;
      const after = await watched(Promise.resolve(), CALM_MS);
      const statuses = [...new Set(answers.map(({ status }) => status))].join(' ');
      process.stdout.write(
        `${attack.title}: ${statuses}; held/health/gap p99, ms: ${shown(fare)}; ` +
          `undisturbed ${shown(before)} and ${shown(after)}\n`,
      );
      const check = (): void => {
        for (const answer of answers) {
          expect(attack.statuses, JSON.stringify(answer)).toContain(answer.status);
        }
        expect(fare.held, 'event loop held, ms of CPU time').toBeLessThan(MOST_HELD_MS);
        expect(fare.gapP99Ms, 'gap p99, ms').toBeLessThan(before.gapP99Ms + MOST_MS);
        expect(fare.healthMs, '/health, ms').toBeLessThan(MOST_MS);
      };
      const calmMs = Math.max(before.healthMs, after.healthMs);
      const isLate = calmMs > MOST_CALM_MS;
      const reason = `without an attack /health took ${calmMs.toFixed(0)} ms`;
      return { check, void: isLate ? reason : null };
    });
  });

  it('leaves no memory behind', async () => {
    const isAsBefore = (): Promise<boolean> =>
      Promise.resolve(memory() <= memoryBefore * MOST_MEMORY);
    await waitUntil(isAsBefore, { what: 'the API has given its memory back' });
  });
});
