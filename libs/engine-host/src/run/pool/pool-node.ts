import { type Alarm, LiveClock } from '@baton/clock';
import type { KvPoolMessage, KvPoolNews, KvPoolRead } from '@baton/contract';
import { assert, type Micros, secondsToUs } from '@baton/kernel';
import { KvPool, KvPoolMember } from '@baton/kvcache';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { endQuietly } from '../engine/end-quietly';
import { EngineIdentity } from '../engine/engine-identity';
import { Bus, HostOptions, Log } from '../tokens';
import { PoolPeers } from './pool-peers';

/** The number of this node in its own copy of the directory. */
const OWN = 0;
const SIGN_OF_LIFE_US = secondsToUs(1);
/** A node with more blocks announces them in several messages. */
const BLOCKS_PER_MESSAGE = 8_192;

/**
 * The node of one engine in the KV pool of a running cluster. It owns a copy of the directory: its
 * member changes its own part at once, messages of other engines change the rest. Its stores, drops
 * and reads go to the other engines, one message per turn of the event loop and at least one per
 * second. Nothing is stored in the broker: a lost engine is dropped after too long a silence, and
 * after a gap in its messages an engine is asked for its whole content.
 */
@Injectable()
export class PoolNode implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly member: KvPoolMember;
  private readonly pool: KvPool;
  private readonly peers: PoolPeers;
  private blocks: number[] = [];
  private reads: KvPoolRead[] = [];
  private isWhole = true;
  private isFlushDue = false;
  private sent = 0;
  private alarm: Alarm | undefined;
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly bus: Bus,
    private readonly clock: LiveClock,
    private readonly log: Log,
    { kvPool: terms, presenceTtlMs }: HostOptions,
  ) {
    assert(terms, 'an engine outside of a pool has no node');
    this.pool = new KvPool({
      stored: (_node, hash) => this.queueChange(hash),
      evicted: (_node, hash) => this.queueChange(-hash),
      cleared: () => this.publishAll(),
      fetched: (node, hashes, untilUs) => this.queueRead(node, hashes, untilUs),
    });
    const ttlUs = Math.max(presenceTtlMs * 1_000, 3 * SIGN_OF_LIFE_US);
    this.peers = new PoolPeers(this.pool, ttlUs);
    this.member = new KvPoolMember(terms, this.pool, OWN);
  }

  /** A new engine takes over; the memory of the old one is lost. */
  restart(): KvPoolMember {
    this.member.clear();
    return this.member;
  }

  async onModuleInit(): Promise<void> {
    this.unsubscribe = await this.bus.subscribe(
      channels.kvPool,
      jsonListener<KvPoolMessage>(this.log, (message) => this.read(message)),
    );
    this.publish({ kind: 'ask', of: undefined });
    this.tick();
  }

  beforeApplicationShutdown(): void {
    this.alarm?.cancel();
    this.alarm = undefined;
    this.publish({ kind: 'gone', from: this.identity.engineId });
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.unsubscribe) await endQuietly(this.unsubscribe(), this.log);
    this.unsubscribe = undefined;
  }

  private tick(): void {
    const { wall } = this.clock;
    const nowUs = wall.nowUs();
    this.alarm = wall.around(nowUs + SIGN_OF_LIFE_US, () => this.tick());
    this.peers.forgetSilent(nowUs);
    this.flush();
  }

  private read(message: KvPoolMessage): void {
    const { engineId } = this.identity;
    if (message.kind === 'ask') {
      if (message.of === undefined || message.of === engineId) this.publishAll();
    } else if (message.from !== engineId) this.takeNews(message);
  }

  private takeNews(message: Exclude<KvPoolMessage, { kind: 'ask' }>): void {
    const { clock, identity } = this;
    if (message.kind === 'gone') {
      this.peers.forget(message.from);
      return;
    }
    const isMissed = this.peers.takeNews(message, clock.wall.nowUs());
    if (isMissed) this.publish({ kind: 'ask', of: message.from });
    for (const { of, blocks, untilUs } of message.reads ?? []) {
      const node = of === identity.engineId ? OWN : this.peers.nodeOf(of);
      if (node !== undefined) this.pool.noteRead(node, blocks, clock.toSimUs(untilUs));
    }
  }

  private queueChange(change: number): void {
    this.blocks.push(change);
    this.flushSoon();
  }

  private queueRead(node: number, blocks: readonly number[], untilUs: Micros): void {
    const of = this.peers.nameOf(node);
    if (of === undefined) return;
    this.reads.push({ of, blocks, untilUs: this.clock.toWallUs(untilUs) });
    this.flushSoon();
  }

  private publishAll(): void {
    this.isWhole = true;
    this.flushSoon();
  }

  private flushSoon(): void {
    if (this.isFlushDue || this.alarm === undefined) return;
    this.isFlushDue = true;
    this.clock.wall.soon(() => this.flush());
  }

  /** Sends the changes, or everything; without changes a sign of life. */
  private flush(): void {
    this.isFlushDue = false;
    if (this.alarm === undefined) return;
    const { isWhole, reads } = this;
    const blocks = isWhole ? this.member.contents() : this.blocks;
    this.isWhole = false;
    this.blocks = [];
    this.reads = [];
    for (let from = 0; from === 0 || from < blocks.length; from += BLOCKS_PER_MESSAGE) {
      const isFirst = from === 0;
      this.send({
        blocks: blocks.slice(from, from + BLOCKS_PER_MESSAGE),
        ...(isWhole && isFirst ? { isWhole } : {}),
        ...(isFirst && reads.length > 0 ? { reads } : {}),
      });
    }
  }

  private send(news: Pick<KvPoolNews, 'blocks' | 'isWhole' | 'reads'>): void {
    const from = this.identity.engineId;
    this.publish({ kind: 'news', from, number: ++this.sent, ...news });
  }

  private publish(message: KvPoolMessage): void {
    this.bus.publish(channels.kvPool, Buffer.from(JSON.stringify(message)));
  }
}
