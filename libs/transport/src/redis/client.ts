import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './address';

/**
 * Connections to one Redis. Nothing waits in the client while there is no connection: commands fail at once, the caller decides. Nothing is
 * sent twice either, because most of our commands are not idempotent.
 */
export type Client = Redis | Cluster;

/**
 * BullMQ's scripts that drain the queues rather than fill them. A server that has reached its memory limit must still run them, or nothing
 * would ever shrink again.
 */
const DRAINING = [
  'moveToActive',
  'moveToFinished',
  'moveJobFromActiveToWait',
  'moveStalledJobsToWait',
  'extendLocks',
];

interface CommandDefinition {
  readonly lua: string;
  readonly numberOfKeys?: number;
  readonly readOnly?: boolean;
}

/** The first line that lets a script write beyond `maxmemory` (Redis 7 and later). */
export const ALLOW_OOM = '#!lua flags=allow-oom\n';

function draining(name: string, definition: CommandDefinition): CommandDefinition {
  if (!DRAINING.includes(name.split(':')[0] ?? '')) return definition;
  return { ...definition, lua: ALLOW_OOM + definition.lua };
}

/** Both classes let BullMQ define its commands, and mark the draining ones once the server is known to understand the mark. */
class SingleClient extends Redis {
  understandsFlags = false;

  override defineCommand(name: string, definition: CommandDefinition): void {
    super.defineCommand(name, this.understandsFlags ? draining(name, definition) : definition);
  }
}

class ClusterClient extends Cluster {
  understandsFlags = false;

  override defineCommand(name: string, definition: CommandDefinition): void {
    super.defineCommand(name, this.understandsFlags ? draining(name, definition) : definition);
  }
}

export type MarkingClient = SingleClient | ClusterClient;

/** Starts to connect at once and for ever; whoever opens it listens for `ready`, `close` and `error`. */
export function openClient(address: RedisAddress, deadlineMs: number): MarkingClient {
  const silenceMs = Math.ceil(deadlineMs * 1.25);
  const options: RedisOptions = {
    ...address.options,
    connectTimeout: deadlineMs,
    // A server that is there but does not answer is a lost one; later than a call's deadline, so that one late answer is not.
    socketTimeout: silenceMs,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryDelayMs,
    // The master we talked to became a replica: find the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    disableClientInfo: true,
  };
  if (address.kind === 'single') return new SingleClient(options);
  const cluster: ClusterOptions = {
    redisOptions: options,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshTimeout: deadlineMs,
  };
  return new ClusterClient([...address.nodes], cluster);
}

function retryDelayMs(attempt: number): number {
  return Math.min(20 * 2 ** Math.min(attempt, 5), 500);
}
