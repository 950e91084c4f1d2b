import type { EngineMessage } from '@baton/contract';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Bus, Log, Wall } from '../tokens';
import { endQuietly } from './end-quietly';
import { EngineIdentity } from './engine-identity';
import { EngineSlot } from './engine-slot';

/** The readers of the mail; an error in either is a crash of the engine. */
export interface MailReaders {
  readonly onMessage: (message: EngineMessage) => void;
  readonly onAborts: (requestIds: readonly string[]) => void;
}

/**
 * The channel of one engine and the shared channel of aborts. Messages are JSON, a handful per
 * request and none per token; messages of one turn to the same engine are sent together.
 */
@Injectable()
export class Mailbox implements OnApplicationShutdown {
  private unsubscribe: Unsubscribe[] = [];
  private readonly outgoing = new Map<string, EngineMessage[]>();

  constructor(
    private readonly identity: EngineIdentity,
    private readonly bus: Bus,
    private readonly wall: Wall,
    private readonly slot: EngineSlot,
    private readonly log: Log,
  ) {}

  send(engineId: string, message: EngineMessage): void {
    const waiting = this.outgoing.get(engineId);
    if (waiting !== undefined) {
      waiting.push(message);
      return;
    }
    if (this.outgoing.size === 0) this.wall.soon(() => this.flush());
    this.outgoing.set(engineId, [message]);
  }

  async open(readers: MailReaders): Promise<void> {
    const { bus, identity } = this;
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

  async onApplicationShutdown(): Promise<void> {
    const ended = this.unsubscribe.map((unsubscribe) => unsubscribe());
    await endQuietly(Promise.all(ended), this.log);
  }

  private flush(): void {
    for (const [engineId, messages] of this.outgoing) {
      const payload = Buffer.from(JSON.stringify(messages));
      this.bus.publish(channels.engine(engineId), payload);
    }
    this.outgoing.clear();
  }

  private reader<T>(visit: (message: T) => void): (payload: Buffer) => void {
    return jsonListener<T>(this.log, (message) => this.slot.guard(() => visit(message)));
  }
}
