import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestCluster } from '../support/cluster';
import { untilNotVoid } from '../support/on-time';
import { waitUntil } from '../support/wait';
import { type Attack, ATTACKS } from './rows';
import { type Fare, Victims } from './victims';

/** What a client may see of another client's request, ms. */
const MOST_MS = 100;
/** Of what the API's memory was before all attacks. */
const MOST_MEMORY = 1.2;
/** On a later machine no figure is judged: every process waits as long for its core. */
const MOST_LATE_MS = 50;
const UNDISTURBED_MS = 5_000;
/** Before each attack, to see whether the machine is on time. */
const CALM_MS = 2_000;
/** A stream's gaps are judged by at least this many. */
const WATCHED_MS = 3_000;
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

let cluster: TestCluster;
let victims: Victims;
let sender: Worker;
let undisturbed: Fare;
let memoryBefore: number;

beforeAll(async () => {
  cluster = await TestCluster.start({ topology: '1A', flags: FLAGS });
  sender = new Worker(new URL('sender.mjs', import.meta.url));
  victims = await Victims.start(cluster.baseUrl);
  undisturbed = await victims.fareDuring(Promise.resolve(), UNDISTURBED_MS);
  memoryBefore = await memory();
});

afterAll(async () => {
  victims.stop();
  await sender.terminate();
  await cluster.stop();
});

async function send({ path, body, times = 1 }: Attack): Promise<readonly Answered[]> {
  const made = body();
  const text = typeof made === 'string' ? made : JSON.stringify(made);
  const answered = once(sender, 'message') as Promise<[readonly Answered[]]>;
  sender.postMessage({ url: `${cluster.baseUrl}${path}`, bytes: Buffer.from(text), times });
  return (await answered)[0];
}

/** Resident bytes of the API's process, KiB. */
async function memory(): Promise<number> {
  const status = readFileSync(`/proc/${await cluster.apiPid()}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

function reasonOf({ lateMs }: Fare, calm: Fare): string | null {
  if (calm.healthMs > MOST_LATE_MS) {
    return `without an attack /health took ${calm.healthMs.toFixed(0)} ms`;
  }
  return lateMs > MOST_LATE_MS ? `this machine was ${lateMs.toFixed(0)} ms late` : null;
}

describe('a request that takes long to read', () => {
  it.each(ATTACKS)('does not disturb other clients: $title', async (attack) => {
    await untilNotVoid(async () => {
      const calm = await victims.fareDuring(Promise.resolve(), CALM_MS);
      const sent = send(attack);
      const fare = await victims.fareDuring(sent, WATCHED_MS);
      const answers = await sent;
      const check = (): void => {
        for (const answer of answers) {
          expect(attack.statuses, JSON.stringify(answer)).toContain(answer.status);
        }
        expect(fare.gapP99Ms, 'gap p99, ms').toBeLessThan(undisturbed.gapP99Ms + MOST_MS);
        expect(fare.healthMs, '/health, ms').toBeLessThan(MOST_MS);
      };
      return { check, void: reasonOf(fare, calm) };
    });
  });

  it('leaves no memory behind', async () => {
    const isAsBefore = async (): Promise<boolean> => (await memory()) <= memoryBefore * MOST_MEMORY;
    await waitUntil(isAsBefore, { what: 'the API has given its memory back' });
  });
});
