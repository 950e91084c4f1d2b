import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RedisAddress } from '../address/address';
import { type Lease, LeaseTable, SharedInstant } from '@baton/clock';
import type { TransportTimes } from '../../times';

export interface StandbyOptions {
  readonly address: RedisAddress;
  readonly times: TransportTimes;
  /** The latest sign of life of the event loop. */
  readonly heartbeat: SharedInstant;
}

/** The data that the thread gets at its start; memory is shared, the rest is copied. */
export interface StandbyData {
  readonly address: RedisAddress;
  readonly renewMs: number;
  readonly lockMs: number;
  readonly ceilingMs: number;
  readonly callDeadlineMs: number;
  readonly heartbeat: SharedInstant['cell'];
  readonly extension: SharedInstant['cell'];
  readonly leases: SharedArrayBuffer;
}

/** The compiled file of the thread, which tests that run the sources do not have. */
const THREAD = join(__dirname, 'standby-thread.js');

/** The thread starts after its process, because it would slow down the start. */
const START_AFTER_MS = 1_000;

/** ioredis and some 10,000 leases fit; a larger heap would only collect its garbage later. */
const HEAP_MB = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 1 };

/**
 * A thread with a Redis connection of its own. It extends the leases of this process while the
 * event loop is too busy to renew them, up to the maximum of a lease. It starts with the first
 * lease.
 */
export class Standby {
  private readonly leases = new LeaseTable();
  private readonly extension = new SharedInstant();
  private thread: Worker | undefined;
  private start: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly options: StandbyOptions) {}

  keep(lease: Lease): void {
    this.leases.keep(lease);
    if (this.thread === undefined && !this.isClosed)
      this.start ??= setTimeout(() => this.startThread(), START_AFTER_MS).unref();
  }

  drop(key: string): void {
    this.leases.drop(key);
  }

  /** Time since the thread last extended all leases; infinite if it never did. */
  extendedAgoMs(): number {
    return this.extension.ageMs();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.start);
    void this.thread?.terminate();
  }

  private startThread(): void {
    if (!existsSync(THREAD)) return;
    this.start = undefined;
    const { address, times, heartbeat } = this.options;
    const workerData: StandbyData = {
      address,
      renewMs: times.lockRenewMs,
      lockMs: times.lockMs,
      ceilingMs: times.lockCeilingMs,
      callDeadlineMs: times.callDeadlineMs,
      heartbeat: heartbeat.cell,
      extension: this.extension.cell,
      leases: this.leases.memory,
    };
    const thread = new Worker(THREAD, { workerData, execArgv: [], resourceLimits: HEAP_MB });
    this.thread = thread;
    thread.unref();
    // The next lease starts another thread.
    thread.once('error', (error) => {
      process.emitWarning(`The standby thread has failed: ${error.message}`);
      this.thread = undefined;
    });
  }
}
