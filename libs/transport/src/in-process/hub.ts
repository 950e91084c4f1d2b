import { ProcessClock } from '@baton/clock';
import { STAGES, type EnginePresence, type Stage } from '@baton/contract';
import { TransportUnavailable } from '../port/failures';
import type { QueueName } from '../port/queues';
import { DEFAULT_TIMES, type TransportTimes } from '../times';
import { ExpiringMap } from './expiring-map';
import { MemoryQueue } from './memory-queue';
import type { RequestRecord } from './record';

export type HubEvent = 'lost' | 'restored' | 'replaced';
type Listener = (payload: Buffer) => void;

const SWEEP_MS = 10_000;

export const monotonicMs = (): number => performance.now();

/**
 * The memory that several in-process transports share instead of a Redis server. Each attached
 * transport represents one process, which can end (`close`) while the others continue. The hub
 * itself can disconnect and come back, with or without its data, like a server.
 */
export class InProcessHub {
  readonly times: TransportTimes;
  readonly queues = new Map<QueueName, MemoryQueue>();
  readonly records = new ExpiringMap<RequestRecord>(monotonicMs);
  readonly prompts = new ExpiringMap<Buffer>(monotonicMs);
  readonly processClock: ProcessClock;
  readonly apis = new ExpiringMap<true>(() => this.processClock.awakeMs());
  readonly engines = new ExpiringMap<EnginePresence>(() => this.processClock.awakeMs());
  readonly claims = new ExpiringMap<true>(() => this.processClock.awakeMs());
  /** The engine of each index and each name. */
  readonly places = new Map<string, string>();
  /** Documents by collection; in each the least recently used first. */
  readonly documents = new Map<string, ExpiringMap<string>>();
  /** By owner and name; the instant at which it is full, `performance.now()` in µs. */
  readonly budgets = new ExpiringMap<number>(monotonicMs);
  readonly channels = new Map<string, Set<Listener>>();
  readonly shares: Readonly<Record<Stage, Map<string, number>>>;
  private readonly listeners = new Set<(event: HubEvent) => void>();
  private reachable = true;

  constructor(times: Partial<TransportTimes> = {}) {
    this.times = { ...DEFAULT_TIMES, ...times };
    this.processClock = new ProcessClock(this.times);
    this.shares = { prefill: new Map(), decode: new Map(), aggregated: new Map() };
    setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get isReachable(): boolean {
    return this.reachable;
  }

  /** Runs an operation like a call over a connection: later, atomic, and only while connected. */
  async call<T>(what: string, operation: () => T): Promise<T> {
    await Promise.resolve();
    if (!this.reachable) throw new TransportUnavailable(`${what}: not connected`);
    return operation();
  }

  queue(name: QueueName): MemoryQueue {
    const queue = this.queues.get(name) ?? new MemoryQueue(this);
    this.queues.set(name, queue);
    return queue;
  }

  goAway(): void {
    this.reachable = false;
    this.emit('lost');
  }

  /**
   * `withoutData`: everything is lost except what living transports send again at once (living APIs
   * and their shares).
   */
  comeBack({ withoutData = false } = {}): void {
    if (withoutData) {
      for (const queue of this.queues.values()) queue.clear();
      for (const map of [this.records, this.prompts, this.engines, this.claims, this.budgets])
        map.clear();
      this.places.clear();
      this.documents.clear();
    }
    this.reachable = true;
    this.emit(withoutData ? 'replaced' : 'restored');
    for (const queue of this.queues.values()) queue.deliver();
  }

  listen(listener: (event: HubEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Requests that wait for the stage, over living APIs and `own`; drops the shares of other APIs.
   */
  livingTotal(stage: Stage, own?: string): number {
    let total = 0;
    for (const [apiId, share] of this.shares[stage]) {
      if (apiId === own || this.apis.has(apiId)) total += share;
      else this.shares[stage].delete(apiId);
    }
    return total;
  }

  shiftShare(apiId: string, stage: Stage, delta: number): void {
    const share = (this.shares[stage].get(apiId) ?? 0) + delta;
    if (share > 0) this.shares[stage].set(apiId, share);
    else this.shares[stage].delete(apiId);
  }

  private emit(event: HubEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  private sweep(): void {
    for (const map of [this.records, this.prompts, this.apis, this.engines, this.claims])
      map.sweep();
    for (const map of this.documents.values()) map.sweep();
    this.budgets.sweep();
    for (const stage of STAGES) this.livingTotal(stage);
  }
}
