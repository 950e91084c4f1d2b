import { assert } from '@baton/kernel';
import type { RedisAddress } from '../address/address';
import { ALLOW_OOM } from '../scripts/script';
import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';

type NetStream = Redis['stream'];

/**
 * BullMQ's scripts that drain the queues instead of filling them. A server at its memory limit must
 * still run them, or its queues could never shrink.
 */
const DRAINING = [
  'moveToActive',
  'moveToFinished',
  'moveJobFromActiveToWait',
  'moveStalledJobsToWait',
  'extendLocks',
];

/**
 * Duration of one blocking wait. A shorter one costs more round trips; during a longer one a
 * firewall can close the connection.
 */
export const BLOCK_SECONDS = 20;

/** A command of BullMQ: the text of its script, and the number of its values that are keys. */
export interface CommandDefinition {
  readonly lua: string;
  readonly numberOfKeys?: number;
  readonly readOnly?: boolean;
}

/** BullMQ appends its version after a colon. */
function plainName(name: string): string {
  return name.split(':')[0] ?? '';
}

function definedIn(
  definitions: ReadonlyMap<string, CommandDefinition>,
  name: string,
): CommandDefinition {
  const definition = definitions.get(name);
  assert(definition !== undefined, `BullMQ has not defined ${name}`);
  return definition;
}

function draining(name: string, definition: CommandDefinition): CommandDefinition {
  if (!DRAINING.includes(plainName(name))) return definition;
  return { ...definition, lua: ALLOW_OOM + definition.lua };
}

/**
 * Connections to one Redis. Without a connection a command fails immediately, and the caller
 * decides what to do. No command is sent twice, because most of them are not idempotent.
 *
 * Both classes let BullMQ define its commands, keep the definitions for scripts that contain them,
 * and mark the draining ones once the server supports the mark. They report errors to one function
 * instead of emitting them: BullMQ would reject a promise without a handler when a connection that
 * has had an error ends before it was ready. `close` and the failing commands carry everything that
 * other parts need.
 */
class SingleClient extends Redis {
  private readonly definitions = new Map<string, CommandDefinition>();
  understandsFlags = false;
  onFailure: ((error: Error) => void) | undefined;
  private corked: NetStream | undefined;
  private isUrgent = false;

  /**
   * Sends the commands of one turn of the event loop in one write; ioredis makes a system call per
   * command. A message does not wait for the end of the turn, because it can carry tokens.
   */
  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    if (this.corked !== stream && this.status === 'ready') {
      this.corked = stream;
      stream.cork();
      setImmediate(() => this.uncork(stream));
    }
    if (args[0].name === 'publish' && !this.isUrgent) {
      this.isUrgent = true;
      process.nextTick(() => this.uncork(stream));
    }
    return super.sendCommand(...args);
  }

  private uncork(stream: NetStream): void {
    this.isUrgent = false;
    if (this.corked !== stream) return;
    this.corked = undefined;
    stream.uncork();
  }

  override defineCommand(name: string, definition: CommandDefinition): void {
    this.definitions.set(plainName(name), definition);
    super.defineCommand(name, this.understandsFlags ? draining(name, definition) : definition);
  }

  /** BullMQ's definition of this name. @throws an assertion when there is none */
  definitionOf(name: string): CommandDefinition {
    return definedIn(this.definitions, name);
  }

  /** Ends the connection, also a TLS handshake under way, whose failure nothing else would hear. */
  hangUp(): void {
    (this.stream as NetStream | undefined)?.on('error', () => undefined);
    this.disconnect();
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return withErrorListener(new SingleClient(blocking({ ...this.options, ...override })));
  }

  override emit(event: string | symbol, ...details: unknown[]): boolean {
    if (event !== 'error') return super.emit(event, ...details);
    this.onFailure?.(details[0] as Error);
    return true;
  }
}

class ClusterClient extends Cluster {
  private readonly definitions = new Map<string, CommandDefinition>();
  understandsFlags = false;
  onFailure: ((error: Error) => void) | undefined;

  constructor(
    private readonly seeds: ClusterNode[],
    options: ClusterOptions,
  ) {
    super(seeds, options);
  }

  override defineCommand(name: string, definition: CommandDefinition): void {
    this.definitions.set(plainName(name), definition);
    super.defineCommand(name, this.understandsFlags ? draining(name, definition) : definition);
  }

  /** BullMQ's definition of this name. @throws an assertion when there is none */
  definitionOf(name: string): CommandDefinition {
    return definedIn(this.definitions, name);
  }

  hangUp(): void {
    this.disconnect();
  }

  override duplicate(nodes: ClusterNode[] = [], override: ClusterOptions = {}): Cluster {
    const seeds = nodes.length > 0 ? nodes : this.seeds;
    const options = { ...this.options, ...override };
    const redisOptions = blocking(options.redisOptions ?? {});
    return withErrorListener(new ClusterClient(seeds, { ...options, redisOptions }));
  }

  override emit(event: string | symbol, ...details: unknown[]): boolean {
    if (event !== 'error') return super.emit(event, ...details);
    this.onFailure?.(details[0] as Error);
    return true;
  }
}

/** A connection is duplicated for blocking waits, during which the server sends nothing. */
function blocking<Options extends Pick<RedisOptions, 'socketTimeout'>>(options: Options): Options {
  const { socketTimeout = 0 } = options;
  return { ...options, socketTimeout: socketTimeout + BLOCK_SECONDS * 1_000 };
}

/** Adds a listener, because ioredis would otherwise print each error. */
function withErrorListener<Emitter extends Redis | Cluster>(client: Emitter): Emitter {
  client.on('error', () => undefined);
  return client;
}

export type MarkingClient = SingleClient | ClusterClient;

/** Connects and retries without end; the caller listens for `ready` and `close`. */
export function openClient(address: RedisAddress, deadlineMs: number): MarkingClient {
  const silenceMs = Math.ceil(deadlineMs * 1.25);
  const options: RedisOptions = {
    ...address.options,
    connectTimeout: deadlineMs,
    // A connected server that does not answer counts as lost. Longer than a call's deadline, so
    // that one late answer is not a loss.
    socketTimeout: silenceMs,
    enableOfflineQueue: false,
    // It needs INFO, and prints a line for each connection where that is denied. Sentinels need it.
    enableReadyCheck: address.options.sentinels !== undefined,
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryDelayMs,
    // The connected master became a replica: find the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    disableClientInfo: true,
  };
  if (address.kind === 'single') return withErrorListener(new SingleClient(options));
  const cluster: ClusterOptions = {
    redisOptions: options,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshTimeout: deadlineMs,
  };
  return withErrorListener(new ClusterClient([...address.nodes], cluster));
}

function retryDelayMs(attempt: number): number {
  return Math.min(20 * 2 ** Math.min(attempt, 5), 500);
}
