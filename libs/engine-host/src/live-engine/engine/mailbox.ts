import type { WallClock } from '@baton/clock';
import type { EngineMessage } from '@baton/contract';
import type { Logger } from '@baton/telemetry';
import { type Bus, channels, type Unsubscribe } from '@baton/transport';
import type { EngineIdentity } from './engine-identity';
import type { EngineSlot } from './engine-slot';

/** The readers of the mail; an error in either is a crash of the engine. */
export interface MailReaders {
  readonly onMessage: (message: EngineMessage) => void;
  readonly onAborts: (requestIds: readonly string[]) => void;
}

export interface MailboxParts {
  readonly identity: EngineIdentity;
  readonly bus: Bus;
  readonly wall: WallClock;
  readonly slot: EngineSlot;
  readonly log: Logger;
}

/**
 * The channel of one engine and the shared channel of aborts. Messages are JSON, a handful per
 * request and none per token; messages of one turn to the same engine are sent together.
 */
export class Mailbox {
  private unsubscribe: Unsubscribe[] = [];
  private readonly outgoing = new Map<string, EngineMessage[]>();

  constructor(private readonly parts: MailboxParts) {}

  send(engineId: string, message: EngineMessage): void {
    const waiting = this.outgoing.get(engineId);
    if (waiting !== undefined) {
      waiting.push(message);
      return;
    }
    if (this.outgoing.size === 0) this.parts.wall.soon(() => this.flush());
    this.outgoing.set(engineId, [message]);
  }

  async open(readers: MailReaders): Promise<void> {
    const { bus, identity } = this.parts;
    const own = channels.engine(identity.engineId);
    this.unsubscribe = await Promise.all([
      bus.subscribe(
        own,
        this.reader<EngineMessage | EngineMessage[]>((mail) => {
          for (const message of Array.isArray(mail) ? mail : [mail]) readers.onMessage(message);
        }),
      ),
      bus.subscribe(
        channels.aborts,
        this.reader<{ requestIds: string[] }>((m) => readers.onAborts(m.requestIds)),
      ),
    ]);
  }

  async close(): Promise<void> {
    await Promise.all(this.unsubscribe.map((unsubscribe) => unsubscribe()));
  }

  private flush(): void {
    for (const [engineId, messages] of this.outgoing) {
      const payload = Buffer.from(JSON.stringify(messages));
      this.parts.bus.publish(channels.engine(engineId), payload);
    }
    this.outgoing.clear();
  }

  private reader<T>(visit: (message: T) => void): (payload: Buffer) => void {
    const { log, slot } = this.parts;
    return (payload) => {
      let message: T;
      try {
        message = JSON.parse(payload.toString()) as T;
      } catch {
        log.warn({ bytes: payload.length }, 'unreadable message');
        return;
      }
      slot.guard(() => visit(message));
    };
  }
}
