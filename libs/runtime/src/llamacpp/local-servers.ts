import { type Stage, STAGES } from '@baton/contract';
import { MAX_ENGINES } from '@baton/placement';
import type { DocumentPlace, Transport } from '@baton/transport';
import { configForStage } from '../config/config';
import type { BatonConfig } from '../config/config';
import type { Logger } from '../logs/logger';
import { executorOf } from '../upstream/executing';
import { type LocalServer, type Peer, startLocalServer } from './local-server';

/** Context of a sequence where `max_model_len` does not say: every sequence has memory for it. */
const CONTEXT_TOKENS = 4_096;
const URL_KEYS = {
  prefill: 'prefillUrl',
  decode: 'decodeUrl',
  aggregated: 'aggregatedUrl',
} as const;
/** Of the entry by which others know a server: some renewals may be missed. */
const TTL_MS = 60_000;
const RENEW_MS = 15_000;

export interface LocalServersOptions {
  readonly config: BatonConfig;
  /** Engines of this process by role. */
  readonly engines: Readonly<Partial<Record<Stage, number>>>;
  readonly transport: Transport;
  readonly log: Logger;
}

/**
 * The servers with a local model that engines of this process pass their work on to: one for each engine of a stage with `executor: llamacpp`. They
 * tell the cluster who they are, and fetch KV only from servers that did.
 */
export class LocalServers {
  private readonly servers: LocalServer[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** With the servers' addresses, as if they had been named. */
  config: BatonConfig;

  private constructor(private readonly options: LocalServersOptions) {
    this.config = options.config;
  }

  /** Starts as many as there are to be, which may be none. @throws UsageError */
  static async start(options: LocalServersOptions): Promise<LocalServers> {
    const all = new LocalServers(options);
    try {
      for (const stage of STAGES) await all.startFor(stage);
      if (all.servers.length > 0) await all.announce();
    } catch (error) {
      await all.close();
      throw error;
    }
    return all;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    const { documents } = this.options.transport;
    const closing = this.servers.map(async ({ engineId, close }) => {
      await documents.remove(placeOf(engineId)).catch(() => false);
      await close();
    });
    await Promise.all(closing);
  }

  private async startFor(stage: Stage): Promise<void> {
    const { config, engines } = this.options;
    const count = (engines[stage] ?? 0) * config.dataParallelSize;
    if (executorOf(config, stage) !== 'llamacpp' || count === 0) return;
    const urls: string[] = [];
    for (let i = 0; i < count; i += 1) {
      const server = await this.startOne();
      this.servers.push(server);
      urls.push(server.url);
      this.options.log.info({ stage, server: server.url }, 'serving a local model');
    }
    this.config = withRoom({ ...this.config, [URL_KEYS[stage]]: urls }, stage);
  }

  private startOne(): Promise<LocalServer> {
    const { config, log } = this.options;
    return startLocalServer(config, {
      servedModel: config.servedModelName ?? config.model,
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
  }

  /** A request's body may name any address; only one that a server of this cluster has told for itself is opened. */
  private async isPeer({ origin, engineId }: Peer): Promise<boolean> {
    const { documents } = this.options.transport;
    return (await documents.get(placeOf(engineId))) === origin;
  }

  private async announce(): Promise<void> {
    await this.tellAddresses();
    this.timer = setInterval(() => {
      this.tellAddresses().catch((error: unknown) => {
        this.options.log.debug({ err: error }, 'addresses not told');
      });
    }, RENEW_MS);
    this.timer.unref();
  }

  private async tellAddresses(): Promise<void> {
    const { documents } = this.options.transport;
    const bounds = { maxEntries: MAX_ENGINES, ttlMs: TTL_MS };
    for (const { engineId, url } of this.servers)
      await documents.put(placeOf(engineId), url, bounds);
  }
}

function placeOf(engineId: string): DocumentPlace {
  return { collection: 'llamacpp-servers', id: engineId };
}

/** An engine of the stage takes no more jobs than its server has sequences. */
function withRoom(config: BatonConfig, stage: Stage): BatonConfig {
  const roomOf = (of: Stage): number => configForStage(config, of).maxNumSeqs;
  const room = Math.min(roomOf(stage), config.llamacppSequences);
  const rooms = {
    ...{ maxNumSeqs: config.maxNumSeqs },
    ...{ prefillMaxNumSeqs: roomOf('prefill'), decodeMaxNumSeqs: roomOf('decode') },
  };
  const key = {
    aggregated: 'maxNumSeqs',
    prefill: 'prefillMaxNumSeqs',
    decode: 'decodeMaxNumSeqs',
  };
  return { ...config, ...rooms, [key[stage]]: room };
}
