import { type BatonConfig, configForStage, servedNamesOf } from '@baton/config';
import { type Stage, STAGES } from '@baton/contract';
import { MAX_ENGINES } from '@baton/policies';
import type { Logger } from '@baton/telemetry';
import type { DocumentPlace, Transport } from '@baton/transport';
import { executorOf, type ServerAddress } from '../server/executing';
import { type LocalServer, type Peer, startLocalServer } from './local-server';

/** Slots of a server unless max_num_seqs is set. */
const SLOTS = 256;

/** Context of a sequence where `max_model_len` is unset: every sequence has memory for it. */
const CONTEXT_TOKENS = 4_096;
/** Time to live of a server's announcement; some renewals may be missed. */
const TTL_MS = 60_000;
const RENEW_MS = 15_000;

export interface LocalServersOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly log: Logger;
}

/**
 * The servers with a local model for the engines of this process: one per engine (and rank) of a
 * stage with `executor: llamacpp`. They announce themselves to the cluster, and fetch KV only from
 * announced servers. A server can compute any stage, so the server of an engine that has left
 * serves the next one.
 */
export class LocalServers {
  /** The configuration, with the room of those stages' engines limited to that of their servers. */
  readonly config: BatonConfig;
  private readonly servers: LocalServer[] = [];
  private readonly idle: LocalServer[] = [];
  private readonly ready = new Map<Stage, LocalServer[]>();
  private taken: LocalServer[] = [];
  private readonly lent = new Map<object, LocalServer[]>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: LocalServersOptions,
    private readonly startServer = startLocalServer,
  ) {
    this.config = STAGES.reduce(withRoom, options.config);
  }

  /** Prepares servers for future engines of a stage, if it computes locally. @throws UsageError */
  async prepare(stage: Stage, count: number): Promise<void> {
    if (executorOf(this.config, stage) !== 'llamacpp') return;
    const ready = this.ready.get(stage) ?? [];
    this.ready.set(stage, ready);
    while (ready.length < count) {
      const server = this.idle.pop() ?? (await this.startOne());
      try {
        await this.announce(server);
      } catch (error) {
        this.idle.push(server);
        throw error;
      }
      ready.push(server);
      this.options.log.info({ stage, server: server.url }, 'serving a local model');
    }
  }

  /** A prepared server; undefined when engines use another executor. */
  next(stage: Stage): ServerAddress | undefined {
    const server = this.ready.get(stage)?.shift();
    if (server === undefined) return undefined;
    this.taken.push(server);
    return { url: server.url };
  }

  /** Assigns the servers taken since the last call to the engine. */
  lend(engine: object): void {
    this.lent.set(engine, this.taken);
    this.taken = [];
  }

  /** Marks the servers of an engine that has left as free. */
  takeBack(engine: object): void {
    this.idle.push(...(this.lent.get(engine) ?? []));
    this.lent.delete(engine);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    const { documents } = this.options.transport;
    const closing = this.servers.map(async (server) => {
      await documents.remove(placeOf(server)).catch(() => false);
      await server.close();
    });
    await Promise.all(closing);
  }

  private async startOne(): Promise<LocalServer> {
    const { config, log } = this.options;
    const server = await this.startServer(config, {
      servedModel: servedNamesOf(config)[0],
      host: config.llamacppHost,
      threads: config.llamacppThreads,
      sequences: config.llamacppSequences,
      contextTokens: config.maxModelLen ?? CONTEXT_TOKENS,
      kvLeaseMs: config.kvLeaseDuration * 1_000,
      loadFailurePolicy: config.kvLoadFailurePolicy,
      peerFailurePolicy: 'recompute',
      isPeer: (source) => this.isPeer(source),
      log: (sentence) => log.warn(sentence),
    });
    this.servers.push(server);
    this.timer ??= this.renewing();
    return server;
  }

  /**
   * Whether an address belongs to a server that this cluster has announced. A request's body may
   * contain any address; others are refused.
   */
  private async isPeer({ origin, engineId }: Peer): Promise<boolean> {
    const { documents } = this.options.transport;
    return (await documents.get(placeOf({ engineId }))) === origin;
  }

  private async announce(server: LocalServer): Promise<void> {
    const bounds = { maxEntries: MAX_ENGINES, ttlMs: TTL_MS };
    await this.options.transport.documents.put(placeOf(server), server.url, bounds);
  }

  private renewing(): NodeJS.Timeout {
    const renew = (): void => {
      Promise.all(this.servers.map((server) => this.announce(server))).catch((error: unknown) => {
        this.options.log.debug({ err: error }, 'announcing local servers failed');
      });
    };
    return setInterval(renew, RENEW_MS).unref();
  }
}

function placeOf({ engineId }: Pick<LocalServer, 'engineId'>): DocumentPlace {
  return { collection: 'llamacpp-servers', id: engineId };
}

/** Limits the jobs of an engine to the sequences of its server. */
function withRoom(config: BatonConfig, stage: Stage): BatonConfig {
  if (executorOf(config, stage) !== 'llamacpp') return config;
  const roomOf = (of: Stage): number => configForStage(config, of).maxNumSeqs ?? SLOTS;
  const rooms = {
    aggregated: roomOf('aggregated'),
    prefill: roomOf('prefill'),
    decode: roomOf('decode'),
    [stage]: Math.min(roomOf(stage), config.llamacppSequences),
  };
  return {
    ...config,
    maxNumSeqs: rooms.aggregated,
    prefillMaxNumSeqs: rooms.prefill,
    decodeMaxNumSeqs: rooms.decode,
  };
}
