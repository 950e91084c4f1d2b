import type { ProcessClock } from '@baton/clock';
import { Failure } from '@baton/kernel';
import { parseRedisAddress, type RedisAddress } from './address/address';
import { TransportUnavailable } from '../port/failures';
import type { BrokerTrouble, Transport } from '../port/transport';
import { DEFAULT_TIMES, type TransportTimes } from '../times';
import { RedisAdmission } from './admission';
import { RedisBus } from './bus';
import { RedisDocuments } from './documents';
import { Keys } from './keys';
import { RedisLedger } from './ledger';
import { RedisLink, type LinkEvent } from './connection/link';
import { RedisPresence } from './presence';
import { RedisQueues } from './jobs/queues';
import { RedisRates } from './rates';

export interface RedisTransportOptions {
  /**
   * `redis://`, `rediss://`, `unix:/path`, `/path`, `sentinel://host:port,…/master`,
   * `cluster://host:port,…`.
   */
  readonly url: string;
  /**
   * First part of every key and channel, by default `baton`. Clusters that share a Redis need
   * different ones.
   */
  readonly prefix?: string;
  /** The tenants whose keys are checked for keys of another program; default: none. */
  readonly tenants?: readonly string[];
  readonly times?: Partial<TransportTimes>;
  /** Loads at once what jobs need, so that the first job does not wait for it; default false. */
  readonly loadsJobs?: boolean;
  /**
   * Checks the permissions and the eviction policy of the server first; called with a warning, or
   * ''. Absent: no check.
   */
  readonly onWarning?: (warning: string) => void;
}

/**
 * Connects to a Redis (6.2 or later; 7 or later drains its queues even when it is out of memory).
 *
 * @throws TransportUnavailable in one sentence, within `callDeadlineMs`, when it cannot be reached
 * or refuses the connection; TransportRefused when something about it must be changed.
 */
export async function connectRedisTransport(options: RedisTransportOptions): Promise<Transport> {
  const address = addressOf(options.url);
  const times = { ...DEFAULT_TIMES, ...options.times };
  const keys = new Keys(options.prefix ?? 'baton', options.tenants);
  const link = new RedisLink(address, keys, times, options.onWarning);
  const transport = new RedisTransport(link, keys, times, address.label);
  if (options.loadsJobs === true) transport.jobs.load();
  await link.open();
  return transport;
}

function addressOf(url: string): RedisAddress {
  try {
    return parseRedisAddress(url);
  } catch (error) {
    throw error instanceof Failure ? new TransportUnavailable(error.message) : error;
  }
}

class RedisTransport implements Transport {
  readonly bus: RedisBus;
  readonly jobs: RedisQueues;
  readonly ledger: RedisLedger;
  readonly admission: RedisAdmission;
  readonly presence: RedisPresence;
  readonly documents: RedisDocuments;
  readonly rates: RedisRates;

  // The order of these parts is the order of their repairs after a reconnection.
  constructor(
    private readonly link: RedisLink,
    keys: Keys,
    times: TransportTimes,
    private readonly label: string,
  ) {
    this.bus = new RedisBus(link, keys);
    this.admission = new RedisAdmission(link, keys);
    this.presence = new RedisPresence(link, keys, this.admission);
    this.jobs = new RedisQueues(link, keys, times);
    this.ledger = new RedisLedger(link, keys, times);
    this.documents = new RedisDocuments(link, keys);
    this.rates = new RedisRates(link, keys);
  }

  get processClock(): ProcessClock {
    return this.link.processClock;
  }

  get description(): string {
    return `Redis ${this.link.version} at ${this.label}`;
  }

  get isConnected(): boolean {
    return this.link.isAnswering;
  }

  get trouble(): BrokerTrouble | undefined {
    return this.link.trouble;
  }

  onConnection(listener: (event: LinkEvent) => void): void {
    this.link.onEvent(listener);
  }

  async close(): Promise<void> {
    await this.jobs.close();
    this.link.close();
  }
}
