import type { Alarm, LiveClock } from '@baton/clock';
import type { EngineMessage, EnginePresence } from '@baton/contract';
import { cacheFetchUs, fullestPeer, type FreeContents } from '@baton/kvcache';
import type { Micros } from '@baton/kernel';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { Mailbox } from '../../live-engine/engine/mailbox';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import type { DriverOptions } from '../options';

type Message<K extends EngineMessage['kind']> = Extract<EngineMessage, { readonly kind: K }>;

export interface WarmStartParts {
  readonly identity: EngineIdentity;
  readonly options: Pick<DriverOptions, 'facts' | 'kvReadTimeoutUs'>;
  readonly transport: Pick<Transport, 'presence'>;
  readonly clock: LiveClock;
  readonly slot: EngineSlot;
  readonly mailbox: Mailbox;
  readonly log: Logger;
}

/** The other engines of the role that take work; none while the broker is away. */
export async function readyPeers({
  transport,
  identity: { role },
}: Pick<WarmStartParts, 'transport' | 'identity'>): Promise<readonly EnginePresence[]> {
  const engines = await transport.presence.engines().catch(() => []);
  const peers = engines.filter(({ stage, state }) => stage === role && state === 'ready');
  return peers.sort((a, b) => a.index - b.index);
}

/**
 * Starts an engine with the prefix cache of the ready engine of its role that has most, and sends
 * the cache of this engine to others on request.
 */
export class WarmStart {
  private alarm: Alarm | undefined;
  private onAnswer: (cache: FreeContents | undefined) => void = () => undefined;

  constructor(private readonly parts: WarmStartParts) {}

  /**
   * Resolves when the cache has come over this engine's link, and immediately when no peer has a
   * cache. An engine whose peer does not answer begins with an empty cache.
   *
   * @param loadedUs when it was loaded, simulated
   */
  async fetch(loadedUs: Micros): Promise<void> {
    const { options, slot, log } = this.parts;
    const from = await this.peer();
    const cache = from === undefined ? undefined : await this.request(from);
    if (cache === undefined || cache.freeOrder.length === 0) return;
    await this.waitUntil(loadedUs + cacheFetchUs(cache, options.facts));
    slot.guard(() => slot.engine.resetPrefixCache(false, cache));
    log.info({ from, blocks: cache.freeOrder.length }, 'started with the cache of another engine');
  }

  /** Called when another engine requests the cache of this one. */
  sendCache({ from }: Message<'tell-cache'>): void {
    const { slot, mailbox } = this.parts;
    mailbox.send(from, { kind: 'cache', cache: slot.engine.sharedCache() });
  }

  take({ cache }: Message<'cache'>): void {
    this.onAnswer(cache);
  }

  stop(): void {
    this.alarm?.cancel();
  }

  private async peer(): Promise<string | undefined> {
    const peers = await readyPeers(this.parts);
    const blocksOf = ({ engineId, gauges: { cachedBlocks = 0 } }: EnginePresence) => {
      return { engineId, cachedBlocks };
    };
    return fullestPeer(peers.map(blocksOf))?.engineId;
  }

  private async request(peer: string): Promise<FreeContents | undefined> {
    const { mailbox, identity, clock, options, log } = this.parts;
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
      this.alarm = this.parts.clock.atSim(atUs, done);
    });
  }
}
