import type { ProcessClock } from '@baton/clock';
import type { AdmissionCounters } from './admission';
import type { Bus } from './bus';
import type { DocumentStore } from './documents';
import type { RequestLedger } from './ledger';
import type { PresenceBoard } from './presence';
import type { JobQueues } from './queues';
import type { RateBudgets } from './rates';

/**
 * `full`: it refuses to store anything because its memory is full. `evicting`: it deletes keys when
 * its memory is full, which would lose requests.
 */
export type BrokerTrouble = 'full' | 'evicting';

/**
 * The only port between processes. It has two adapters, Redis (bullmq + ioredis) and in-process,
 * and one conformance suite runs on both. Every call has a deadline, after which it rejects with
 * `TransportUnavailable`.
 */
export interface Transport {
  /** A description for the log: `Redis 7.0.15 at unix:...`, `in-process`. */
  readonly description: string;
  /** False while the broker cannot be reached. */
  readonly isConnected: boolean;
  /** Why the broker cannot take requests although it answers; undefined when it can. */
  readonly trouble: BrokerTrouble | undefined;
  readonly jobs: JobQueues;
  readonly bus: Bus;
  readonly ledger: RequestLedger;
  readonly presence: PresenceBoard;
  readonly admission: AdmissionCounters;
  readonly documents: DocumentStore;
  readonly rates: RateBudgets;
  /** The pauses of this process. */
  readonly processClock: ProcessClock;
  /**
   * `lost`: no connection. `restored`: the same server, only messages were lost. `replaced`: the
   * server has restarted; its data may be gone.
   */
  onConnection(listener: (event: 'lost' | 'restored' | 'replaced') => void): void;
  close(): Promise<void>;
}
