import { type Alarm, LiveClock } from '@baton/clock';
import type { EngineMessage, EnginePresence } from '@baton/contract';
import type { Micros } from '@baton/kernel';
import { cacheFetchUs, type FreeContents, fullestPeer } from '@baton/kvcache';
import { Injectable } from '@nestjs/common';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { Mailbox } from '../run/engine/mailbox';
import { Broker, HostOptions, Log } from '../run/tokens';

type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { readonly kind: K }>;

/** The other engines of the role that take work; none while the broker is away. */
export async function readyPeers({
  transport,
  identity: { role },
}: {
  readonly transport: Broker;
  readonly identity: EngineIdentity;
}): Promise<readonly EnginePresence[]> {
  const engines = await transport.presence.engines().catch(() => []);
  const peers = engines.filter(({ stage, state }) => stage === role && state === 'ready');
  return peers.sort((a, b) => a.index - b.index);
}

/**
 * Starts an engine with the prefix cache of the ready engine of its role that has most, and sends
 * the cache of this engine to others on request.
 */
@Injectable()
export class WarmStart {
  private alarm: Alarm | undefined;
  private onAnswer: (cache: FreeContents | undefined) => void = () => undefined;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly options: HostOptions,
    private readonly transport: Broker,
    private readonly clock: LiveClock,
    private readonly slot: EngineSlot,
    private readonly mailbox: Mailbox,
    private readonly log: Log,
  ) {}

  /**
   * Resolves when the cache has come over this engine's link, and immediately when no peer has a
   * cache. An engine whose peer does not answer begins with an empty cache.
   *
   * @param loadedUs when it was loaded, simulated
   */
  async fetch(loadedUs: Micros): Promise<void> {
    const { options, slot, log } = this;
    const from = await this.peer();
    const cache = from === undefined ? undefined : await this.request(from);
    if (cache === undefined || cache.freeOrder.length === 0) return;
    await this.waitUntil(loadedUs + cacheFetchUs(cache, options.facts));
    slot.guard(() => slot.engine.resetPrefixCache(false, cache));
    log.info({ from, blocks: cache.freeOrder.length }, 'started with the cache of another engine');
  }

  /** Called when another engine requests the cache of this one. */
  sendCache({ from }: Message<'tell-cache'>): void {
    const { slot, mailbox } = this;
    mailbox.send(from, { kind: 'cache', cache: slot.engine.sharedCache() });
  }

  take({ cache }: Message<'cache'>): void {
    this.onAnswer(cache);
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private async peer(): Promise<string | undefined> {
    const peers = await readyPeers({ transport: this.transport, identity: this.identity });
    const blocksOf = ({ engineId, gauges: { cachedBlocks = 0 } }: EnginePresence) => {
      return { engineId, cachedBlocks };
    };
    return fullestPeer(peers.map(blocksOf))?.engineId;
  }

  private async request(peer: string): Promise<FreeContents | undefined> {
    const { mailbox, identity, clock, options, log } = this;
    mailbox.send(peer, { kind: 'tell-cache', from: identity.engineId });
    const answer = await new Promise<FreeContents | undefined>((settle) => {
      this.onAnswer = settle;
      const deadlineUs = clock.wall.nowUs() + options.kvReadTimeoutUs;
      this.alarm = clock.wall.at(deadlineUs, () => settle(undefined));
    });
    this.alarm?.cancel();
    if (answer === undefined)
      log.warn({ peer }, 'another engine did not send its cache; started with an empty one');
    return answer;
  }

  private async waitUntil(atUs: Micros): Promise<void> {
    await new Promise<void>((done) => {
      this.alarm = this.clock.atSim(atUs, done);
    });
  }
}
