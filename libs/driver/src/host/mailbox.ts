import type { EngineMessage, MembershipOrder } from '@baton/contract';
import { unreachable } from '@baton/kernel';
import { channels, type Unsubscribe } from '@baton/transport';
import type { DecodeSide } from '../handover/decode-side';
import type { PrefillSide } from '../handover/prefill-side';
import type { HostContext } from './host-context';

export interface MailReaders {
  readonly prefill: PrefillSide;
  readonly decode: DecodeSide;
  readonly onLegOver: (message: Extract<EngineMessage, { kind: 'leg-over' }>) => void;
  readonly onTellMetrics: (replyTo: string) => void;
  readonly onResend: (ask: Extract<EngineMessage, { kind: 'resend' }>) => void;
  readonly onOrder: (order: MembershipOrder) => void;
  readonly onAborts: (requestIds: readonly string[]) => void;
}

/**
 * The channel of one engine and the aborts channel of all. Messages are JSON, there are a handful per request and none per token; those of
 * one turn for the same engine travel together.
 */
export class Mailbox {
  private unsubscribe: Unsubscribe[] = [];
  private readonly outgoing = new Map<string, EngineMessage[]>();

  constructor(private readonly context: HostContext) {}

  send(engineId: string, message: EngineMessage): void {
    const waiting = this.outgoing.get(engineId);
    if (waiting !== undefined) {
      waiting.push(message);
      return;
    }
    if (this.outgoing.size === 0) this.context.clock.wall.soon(() => this.flush());
    this.outgoing.set(engineId, [message]);
  }

  async open(readers: MailReaders): Promise<void> {
    const { bus } = this.context.transport;
    const own = channels.engine(this.context.engineId);
    this.unsubscribe = await Promise.all([
      bus.subscribe(own, (payload) =>
        this.read<EngineMessage | EngineMessage[]>(payload, (mail) => {
          for (const message of Array.isArray(mail) ? mail : [mail]) deliver(message, readers);
        }),
      ),
      bus.subscribe(channels.aborts, (payload) =>
        this.read<{ requestIds: string[] }>(payload, (m) => readers.onAborts(m.requestIds)),
      ),
    ]);
  }

  async close(): Promise<void> {
    await Promise.all(this.unsubscribe.map((unsubscribe) => unsubscribe()));
  }

  private flush(): void {
    for (const [engineId, messages] of this.outgoing) {
      const payload = Buffer.from(JSON.stringify(messages));
      this.context.transport.bus.publish(channels.engine(engineId), payload);
    }
    this.outgoing.clear();
  }

  private read<T>(payload: Buffer, visit: (message: T) => void): void {
    let message: T;
    try {
      message = JSON.parse(payload.toString()) as T;
    } catch {
      this.context.log.warn({ bytes: payload.length }, 'unreadable message');
      return;
    }
    this.context.guard(() => visit(message));
  }
}

function deliver(message: EngineMessage, readers: MailReaders): void {
  const { prefill, decode, onLegOver, onTellMetrics, onResend, onOrder } = readers;
  switch (message.kind) {
    case 'read':
      return prefill.onRead(message);
    case 'read-end':
      return prefill.onReadEnd(message);
    case 'heartbeat':
      return prefill.onHeartbeat(message);
    case 'release':
      return prefill.onRelease(message);
    case 'read-answer':
      return decode.onReadAnswer(message);
    case 'read-share':
      return decode.onReadShare(message);
    case 'leg-over':
      return onLegOver(message);
    case 'tell-metrics':
      return onTellMetrics(message.replyTo);
    case 'resend':
      return onResend(message);
    case 'leave':
    case 'become':
      return onOrder(message);
    default:
      return unreachable(message);
  }
}
