import type { ProcessClock } from '@baton/clock';
import { STAGES, type EngineJob, type Stage } from '@baton/contract';
import type { AdmissionCounters } from '../port/admission';
import type { Bus, Unsubscribe } from '../port/bus';
import type { ConsumeOptions, JobConsumer, JobQueues, ProcessId, QueueName } from '../port/queues';
import type { Transport } from '../port/transport';
import { MemoryConsumer } from './consumer';
import { MemoryDocuments } from './documents';
import { type HubEvent, InProcessHub } from './hub';
import { MemoryLedger } from './ledger';
import { MemoryPresence } from './presence';
import { MemoryRates } from './rates';

/**
 * A transport over a hub in this process; each represents one process of the cluster. Without a hub
 * it makes its own.
 */
export function attachInProcess(hub: InProcessHub = new InProcessHub()): Transport {
  return new InProcessTransport(hub);
}

class InProcessTransport implements Transport {
  readonly description = 'in-process';
  readonly jobs: MemoryQueues;
  readonly bus: MemoryBus;
  readonly ledger: MemoryLedger;
  readonly presence: MemoryPresence;
  readonly admission: MemoryAdmission;
  readonly documents: MemoryDocuments;
  readonly rates: MemoryRates;
  private readonly stopListening: (() => void)[] = [];

  constructor(private readonly hub: InProcessHub) {
    this.jobs = new MemoryQueues(hub);
    this.bus = new MemoryBus(hub);
    this.ledger = new MemoryLedger(hub);
    this.presence = new MemoryPresence(hub);
    this.admission = new MemoryAdmission(hub);
    this.documents = new MemoryDocuments(hub);
    this.rates = new MemoryRates(hub);
  }

  get processClock(): ProcessClock {
    return this.hub.processClock;
  }

  readonly trouble = undefined;

  get isConnected(): boolean {
    return this.hub.isReachable;
  }

  onConnection(listener: (event: HubEvent) => void): void {
    this.stopListening.push(this.hub.listen(listener));
  }

  async close(): Promise<void> {
    for (const stop of this.stopListening) stop();
    this.bus.close();
    await this.jobs.close();
  }
}

class MemoryQueues implements JobQueues {
  private readonly consumers: MemoryConsumer[] = [];

  constructor(private readonly hub: InProcessHub) {}

  add(queue: QueueName, jobs: readonly EngineJob[]): Promise<void> {
    return this.hub.call('add jobs', () => this.hub.queue(queue).add(jobs));
  }

  consume(queue: QueueName, options: ConsumeOptions): JobConsumer {
    const consumer = new MemoryConsumer(this.hub, this.hub.queue(queue), options);
    this.consumers.push(consumer);
    return consumer;
  }

  waiting(queue: QueueName): Promise<number> {
    return this.hub.call('count jobs', () => this.hub.queue(queue).waiting);
  }

  abandon(queue: QueueName): Promise<EngineJob[]> {
    return this.hub.call('abandon a queue', () => this.hub.queue(queue).clear());
  }

  reclaim(queue: QueueName): Promise<EngineJob[]> {
    return this.hub.call('reclaim jobs', () => this.hub.queue(queue).reclaim());
  }

  release(queue: QueueName, { pid }: ProcessId): Promise<void> {
    return this.hub.call('release jobs', () => {
      if (pid === process.pid) this.hub.queue(queue).release();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.close()));
  }
}

/** Messages arrive in a later turn, in the order in which they were published. */
class MemoryBus implements Bus {
  private readonly unsubscribers = new Set<() => void>();

  constructor(private readonly hub: InProcessHub) {}

  publish(channel: string, payload: Buffer): void {
    if (!this.hub.isReachable) return;
    setImmediate(() => {
      for (const listener of this.hub.channels.get(channel) ?? []) listener(payload);
    });
  }

  subscribe(channel: string, listener: (payload: Buffer) => void): Promise<Unsubscribe> {
    return this.hub.call('subscribe', () => {
      const entry = (payload: Buffer): void => listener(payload);
      const entries = this.hub.channels.get(channel) ?? new Set();
      this.hub.channels.set(channel, entries.add(entry));
      const unsubscribe = (): void => {
        entries.delete(entry);
        this.unsubscribers.delete(unsubscribe);
      };
      this.unsubscribers.add(unsubscribe);
      return () => Promise.resolve(unsubscribe());
    });
  }

  close(): void {
    for (const unsubscribe of this.unsubscribers) unsubscribe();
  }
}

class MemoryAdmission implements AdmissionCounters {
  constructor(private readonly hub: InProcessHub) {}

  tryEnter(...question: Parameters<AdmissionCounters['tryEnter']>): Promise<boolean> {
    const [apiId, stage, count, limit] = question;
    return this.hub.call('tryEnter', () => {
      if (this.hub.livingTotal(stage, apiId) + count > limit) return false;
      this.hub.shiftShare(apiId, stage, count);
      return true;
    });
  }

  /** Never refused: an API owns its share and writes it again after a loss of the broker. */
  async shift(
    apiId: string,
    deltas: Readonly<Partial<Record<Stage, number>>>,
  ): Promise<Record<Stage, number> | undefined> {
    await Promise.resolve();
    for (const stage of STAGES) this.hub.shiftShare(apiId, stage, deltas[stage] ?? 0);
    return this.hub.isReachable ? this.livingTotals(apiId) : undefined;
  }

  totals(): Promise<Record<Stage, number>> {
    return this.hub.call('totals', () => this.livingTotals());
  }

  private livingTotals(own?: string): Record<Stage, number> {
    return {
      prefill: this.hub.livingTotal('prefill', own),
      decode: this.hub.livingTotal('decode', own),
      aggregated: this.hub.livingTotal('aggregated', own),
    };
  }
}
