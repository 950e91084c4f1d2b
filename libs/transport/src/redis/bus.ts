import type { Bus, Unsubscribe } from '../port/bus';
import type { Keys } from './keys';
import type { RedisLink } from './connection/link';

/** Limit of unsent bytes. Beyond it the broker does not read, and further messages are dropped. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;

type Listener = (payload: Buffer) => void;

/** Redis pub/sub. Messages published while the link is down are lost, as the port allows. */
export class RedisBus implements Bus {
  private readonly listeners = new Map<string, Set<Listener>>();
  private unsentBytes = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
  ) {
    link.subscriber.on('messageBuffer', (channel: Buffer, payload: Buffer) => {
      for (const listener of this.listeners.get(channel.toString()) ?? []) listener(payload);
    });
    link.onRestore(async () => {
      if (this.listeners.size > 0) await link.subscriber.subscribe(...this.listeners.keys());
    });
  }

  publish(channel: string, payload: Buffer): void {
    if (!this.link.isUp || this.unsentBytes > MAX_UNSENT_BYTES) return;
    this.unsentBytes += payload.length;
    const settle = (): void => {
      this.unsentBytes -= payload.length;
    };
    this.link.commands.publish(this.keys.channel(channel), payload).then(settle, settle);
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    const name = this.keys.channel(channel);
    // Each subscription is its own entry, even for the same function.
    const entry: Listener = (payload) => listener(payload);
    const entries = this.listeners.get(name) ?? new Set();
    // Before the call, so that the end of another subscription does not end this one's channel.
    this.listeners.set(name, entries.add(entry));
    try {
      await this.link.call('subscribe', () => this.link.subscriber.subscribe(name));
    } catch (error) {
      this.remove(name, entry);
      throw error;
    }
    return () => this.unsubscribe(name, entry);
  }

  private async unsubscribe(name: string, entry: Listener): Promise<void> {
    if (!this.remove(name, entry) || !this.link.isUp) return;
    await this.link.call('unsubscribe', () => this.link.subscriber.unsubscribe(name));
  }

  /** Returns true for the last entry of its channel. */
  private remove(name: string, entry: Listener): boolean {
    const entries = this.listeners.get(name);
    if (entries?.delete(entry) !== true || entries.size > 0) return false;
    return this.listeners.delete(name);
  }
}
