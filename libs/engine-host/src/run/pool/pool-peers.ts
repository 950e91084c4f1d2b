import type { KvPoolNews } from '@baton/contract';
import { secondsToUs } from '@baton/kernel';
import type { KvPool } from '@baton/kvcache';

const ASK_EVERY_US = secondsToUs(1);

interface Peer {
  readonly node: number;
  /** Number of the last message; 0 when its content is unknown. */
  number: number;
  /** Wall µs. */
  heardUs: number;
  /** Time of the last request for the peer's whole content, wall µs. */
  requestedUs: number;
}

/**
 * The other engines of a KV pool, in one engine's copy of the directory: their numbers, and whether
 * all of their messages have arrived.
 */
export class PoolPeers {
  private readonly peers = new Map<string, Peer>();
  /** By number: the name of the engine; numbers are reused. */
  private readonly names: (string | undefined)[] = [undefined];

  /** @param ttlUs wall µs after which a silent engine is dropped */
  constructor(
    private readonly pool: KvPool,
    private readonly ttlUs: number,
  ) {}

  nodeOf(engineId: string): number | undefined {
    return this.peers.get(engineId)?.node;
  }

  nameOf(node: number): string | undefined {
    return this.names[node];
  }

  /**
   * Takes a message. True when an earlier one is missing, so that the content must be requested.
   */
  takeNews({ from, number, blocks, isWhole }: KvPoolNews, nowUs: number): boolean {
    const peer = this.peers.get(from) ?? this.meet(from);
    peer.heardUs = nowUs;
    const isNext = peer.number > 0 && number === peer.number + 1;
    if (isWhole !== true && !isNext) {
      this.pool.forget(peer.node);
      peer.number = 0;
      if (nowUs - peer.requestedUs < ASK_EVERY_US) return false;
      peer.requestedUs = nowUs;
      return true;
    }
    if (isWhole === true) this.pool.forget(peer.node);
    peer.number = number;
    for (const change of blocks) {
      if (change > 0) this.pool.add(peer.node, change);
      else this.pool.remove(peer.node, -change);
    }
    return false;
  }

  forget(engineId: string): void {
    const peer = this.peers.get(engineId);
    if (peer === undefined) return;
    this.peers.delete(engineId);
    this.names[peer.node] = undefined;
    this.pool.leave(peer.node);
  }

  forgetSilent(nowUs: number): void {
    for (const [engineId, { heardUs }] of this.peers) {
      if (nowUs - heardUs > this.ttlUs) this.forget(engineId);
    }
  }

  private meet(engineId: string): Peer {
    const free = this.names.indexOf(undefined, 1);
    const node = free < 0 ? this.names.length : free;
    const peer = { node, number: 0, heardUs: 0, requestedUs: -ASK_EVERY_US };
    this.names[node] = engineId;
    this.peers.set(engineId, peer);
    return peer;
  }
}
