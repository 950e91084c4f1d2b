import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { TestCluster } from '../support/cluster';
import { type TimedRun, untilNotVoid } from '../support/on-time';
import { waitUntil } from '../support/wait';
import type { Attack } from './attack';
import { type AttackCost, attackCost } from './attack-cost';
import { LoopWatches, type Watched } from './loop-watches';
import { type Cost, ProcessCost } from './process-cost';
import { type Fare, Victims } from './victims';

/** Maximum effect on another client's request, ms. */
const MOST_MS = 100;
/** CPU time for which one request may hold the event loop, ms. */
const MOST_HELD_MS = 100;
/** Maximum memory of a request, and the base memory of a thread, MiB. */
const MOST_MIB = 256 + 64;
/** Number of requests that are processed at once. */
const THREADS = 2;
/** Memory that the API may keep after all attacks, for its pools and caches, MiB. */
const MOST_KEPT_MIB = 32;
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

type Seen = Fare & Watched & Cost;

/** A cluster with steady streams, and a thread that attacks it. */
export class AttackedCluster {
  private readonly sender = new Worker(new URL('sender.mjs', import.meta.url));
  private usedMibBefore = 0;

  private constructor(
    private readonly watches: LoopWatches,
    private readonly cluster: TestCluster,
    private readonly apiPid: number,
  ) {}

  /** @param flags further options of the cluster */
  static async start(flags: readonly string[] = []): Promise<AttackedCluster> {
    const watches = new LoopWatches();
    const all = [...FLAGS, ...flags];
    const cluster = await TestCluster.start({ topology: '1A', flags: all, env: watches.env });
    const attacked = new AttackedCluster(watches, cluster, await cluster.apiPid());
    await attacked.besideStreams((victims) => victims.fareDuring(Promise.resolve(), CALM_MS));
    attacked.usedMibBefore = await watches.usedMib(attacked.apiPid);
    return attacked;
  }

  async stop(): Promise<void> {
    await this.sender.terminate();
    await this.cluster.stop();
    this.watches.close();
  }

  /** Expects that an attack disturbs no other client. */
  withstands(attack: Attack): Promise<void> {
    return untilNotVoid(() => this.besideStreams((victims) => this.attempt(attack, victims)));
  }

  /**
   * Expects that the API keeps no memory of the attacks. The resident memory says nothing of it: V8
   * collects garbage when it allocates, and the C library keeps freed pages.
   */
  async untilMemoryIsFree(): Promise<void> {
    const most = this.usedMibBefore + MOST_KEPT_MIB;
    const isFree = async () => (await this.watches.usedMib(this.apiPid)) <= most;
    await waitUntil(isFree, { what: `the API uses at most ${most.toFixed(0)} MiB` });
    const used = await this.watches.usedMib(this.apiPid);
    process.stdout.write(
      `memory in use before and after all attacks, MiB: ${this.usedMibBefore.toFixed(0)}, ` +
        `${used.toFixed(0)}\n`,
    );
  }

  private async besideStreams<Result>(run: (victims: Victims) => Promise<Result>): Promise<Result> {
    const victims = await Victims.start(this.cluster.baseUrl);
    try {
      return await run(victims);
    } finally {
      victims.stop();
    }
  }

  private async attempt(attack: Attack, victims: Victims): Promise<TimedRun> {
    const id = await this.begun(attack);
    const before = await this.watched(victims, Promise.resolve(), CALM_MS);
    const sent = this.sendAll(attack, id);
    const during = await this.watched(victims, sent, WATCHED_MS);
    const answers = await sent;
    const after = await this.watched(victims, Promise.resolve(), CALM_MS);
    report(attack, answers, [before, during, after]);
    for (const answer of answers) {
      expect(attack.statuses, JSON.stringify(answer)).toContain(answer.status);
    }
    const cost = attackCost(before, during);
    expectMemory(cost, attack);
    if (!cost.isHeldVoid) expectHeld(cost);
    const check = (): void => expectTimes(cost, [before, during]);
    return { check, void: lateness([before, during, after]) };
  }

  private async watched(victims: Victims, sent: Promise<unknown>, ms: number): Promise<Seen> {
    this.watches.begin();
    const api = new ProcessCost(this.apiPid);
    const fare = await victims.fareDuring(sent, ms);
    return { ...fare, ...api.end(), ...(await this.watches.end(this.apiPid)) };
  }

  /** The id of an attack's first request. */
  private async begun({ first }: Attack): Promise<string | undefined> {
    if (first === undefined) return undefined;
    const [answer] = await this.sendAll(first);
    expect(answer?.status, answer?.text).toBe(200);
    return /"id":"([^"]+)"/.exec(answer?.text ?? '')?.[1];
  }

  private async sendAll(
    { path, body, isZipped, ...how }: Omit<Attack, 'title' | 'statuses'>,
    id = '',
  ): Promise<readonly Answered[]> {
    const made = body();
    const text = (typeof made === 'string' ? made : JSON.stringify(made)).replace('{id}', id);
    const url = `${this.cluster.baseUrl}${path.replace('{id}', id)}`;
    const bytes = isZipped === true ? gzipSync(text) : Buffer.from(text);
    const { times = 1, way = 'request', method = 'POST' } = how;
    const answered = once(this.sender, 'message') as Promise<[readonly Answered[]]>;
    this.sender.postMessage({ url, bytes, times, way, method, isZipped });
    return (await answered)[0];
  }
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

function expectTimes(cost: AttackCost, [before, during]: readonly [Seen, Seen]): void {
  expectHeld(cost);
  // The time that a process waits for a CPU is the machine's, and not what the attack costs.
  const { gapP99Ms, healthMs, waitedMs } = during;
  expect(gapP99Ms - waitedMs, 'gap p99, ms').toBeLessThan(before.gapP99Ms + MOST_MS);
  expect(healthMs - waitedMs, '/health, ms').toBeLessThan(MOST_MS);
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
