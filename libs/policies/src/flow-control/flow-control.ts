import { assert, Chain, type ChainLink, type Micros } from '@baton/kernel';
import type { FlowContext, FlowPolicy, FlowQueue } from './policy';
import type { SloClass } from './slo-class';

/** Bounds of the queues. */
export interface FlowLimits {
  /** Most waiting requests of one class and tenant, >= 0. */
  readonly perFlow: number;
  /** Most waiting requests in total, >= 0. */
  readonly total: number;
  /** Longest wait of a request, > 0. */
  readonly timeoutUs: Micros;
}

/**
 * The reason why a request is rejected: its queue or all queues are full, one of a higher class
 * took its place, or it has waited too long.
 */
export type DropReason = 'full' | 'shed' | 'timeout';

/** The outcomes of requests. A callback may call only `endRequest` of the flow control. */
export interface FlowEvents<Item> {
  readonly onPass: (ticket: Ticket<Item>, nowUs: Micros) => void;
  readonly onDrop: (ticket: Ticket<Item>, why: DropReason, nowUs: Micros) => void;
}

export interface FlowRequest {
  readonly sloClass: SloClass;
  readonly tenant: string;
  readonly promptTokens: number;
}

/** An offered request: it waits, is under way after the gate, or has ended. */
export class Ticket<Item> implements ChainLink<Ticket<Item>> {
  chain: Chain<Ticket<Item>> | undefined;
  previous: Ticket<Item> | undefined;
  next: Ticket<Item> | undefined;
  state: 'waiting' | 'under way' | 'gone' = 'waiting';

  constructor(
    readonly item: Item,
    readonly flow: Flow<Item>,
    readonly promptTokens: number,
    readonly arrivalUs: Micros,
    readonly order: number,
  ) {}
}

/** The waiting requests of one class and tenant. */
class Flow<Item> implements FlowQueue {
  readonly waiting = new Chain<Ticket<Item>>();
  waitingRequests = 0;

  constructor(
    readonly sloClass: SloClass,
    readonly tenant: string,
  ) {}

  get oldest(): Ticket<Item> {
    return this.waiting.first!;
  }
}

/**
 * Queues in front of a gate, one per class and tenant. While the gate is open requests pass, after
 * those before them. While it is closed they wait, and the policy chooses the next one when a
 * request under way ends. Pure: the live API and the virtual clock drive the same object.
 */
export class FlowControl<Item> {
  /** Requests that have passed the gate and have not ended. */
  underWay = 0;
  waiting = 0;
  private order = 0;
  /** The flows with waiting requests. */
  private readonly flows: Flow<Item>[] = [];
  private readonly byKey = new Map<string, Flow<Item>>();

  /** @param capacity requests that may be under way now */
  constructor(
    private readonly policy: FlowPolicy,
    private readonly limits: FlowLimits,
    private readonly capacity: () => number,
    private readonly events: FlowEvents<Item>,
  ) {}

  /**
   * Takes a new request: it passes, waits or is rejected, and may displace one of a lower class.
   */
  offer(item: Item, { sloClass, tenant, promptTokens }: FlowRequest, nowUs: Micros): Ticket<Item> {
    this.releaseWaiting(nowUs);
    const flow = this.flowOf(sloClass, tenant);
    const ticket = new Ticket(item, flow, promptTokens, nowUs, this.order++);
    if (this.underWay < this.capacity()) {
      // All waiting requests have passed, so this one is the only choice.
      this.enqueue(ticket);
      this.releaseWaiting(nowUs);
    } else if (this.hasRoom(flow, nowUs)) this.enqueue(ticket);
    else this.drop(ticket, 'full', nowUs);
    return ticket;
  }

  /** Releases as many requests as the gate has room for. */
  releaseWaiting(nowUs: Micros): void {
    this.expire(nowUs);
    while (this.waiting > 0 && this.underWay < this.capacity()) this.passNext(nowUs);
  }

  /**
   * Records the end of a request that had passed; `releaseWaiting` releases the next one. A ticket
   * counts once.
   *
   * @param outputTokens of the request
   */
  endRequest(ticket: Ticket<Item>, outputTokens: number): void {
    if (ticket.state !== 'under way') return;
    ticket.state = 'gone';
    this.underWay--;
    this.policy.served?.(ticket.flow, { promptTokens: 0, outputTokens });
  }

  /** Removes a waiting request whose client has disconnected. */
  withdraw(ticket: Ticket<Item>): void {
    if (ticket.state !== 'waiting') return;
    this.dequeue(ticket);
    ticket.state = 'gone';
  }

  /** Time at which the next waiting request times out; Infinity when none waits. */
  get nextTimeoutUs(): Micros {
    let soonest = Infinity;
    for (const { oldest } of this.flows) soonest = Math.min(soonest, oldest.arrivalUs);
    return soonest + this.limits.timeoutUs;
  }

  /** The queues that are not empty. */
  get queues(): readonly FlowQueue[] {
    return this.flows;
  }

  private passNext(nowUs: Micros): void {
    const context: FlowContext = { flows: this.flows, nowUs, underWay: this.underWay };
    const ticket = this.flows[this.policy.pick(context)]!.oldest;
    this.dequeue(ticket);
    ticket.state = 'under way';
    this.underWay++;
    this.policy.served?.(ticket.flow, { promptTokens: ticket.promptTokens, outputTokens: 0 });
    this.events.onPass(ticket, nowUs);
  }

  private expire(nowUs: Micros): void {
    while (this.nextTimeoutUs <= nowUs) {
      const { timeoutUs } = this.limits;
      const { oldest } = this.flows.find((flow) => flow.oldest.arrivalUs + timeoutUs <= nowUs)!;
      this.dequeue(oldest);
      this.drop(oldest, 'timeout', nowUs);
    }
  }

  /**
   * Whether one more request can wait in the flow, if necessary in place of one of a lower class.
   */
  private hasRoom(flow: Flow<Item>, nowUs: Micros): boolean {
    if (flow.waitingRequests >= this.limits.perFlow) return false;
    if (this.waiting < this.limits.total) return true;
    const victim = this.lowest();
    if (victim === undefined || victim.sloClass.priority <= flow.sloClass.priority) return false;
    const newest = victim.waiting.last!;
    this.dequeue(newest);
    this.drop(newest, 'shed', nowUs);
    return true;
  }

  /** The longest queue of the lowest class. */
  private lowest(): Flow<Item> | undefined {
    let lowest: Flow<Item> | undefined;
    for (const flow of this.flows) {
      const below = flow.sloClass.priority - (lowest?.sloClass.priority ?? -Infinity);
      const isLonger = flow.waitingRequests > (lowest?.waitingRequests ?? 0);
      if (below > 0 || (below === 0 && isLonger)) lowest = flow;
    }
    return lowest;
  }

  private drop(ticket: Ticket<Item>, why: DropReason, nowUs: Micros): void {
    ticket.state = 'gone';
    this.events.onDrop(ticket, why, nowUs);
  }

  private enqueue(ticket: Ticket<Item>): void {
    const { flow } = ticket;
    if (flow.waitingRequests === 0) {
      this.flows.push(flow);
      this.byKey.set(keyOf(flow.sloClass, flow.tenant), flow);
    }
    flow.waiting.append(ticket);
    flow.waitingRequests++;
    this.waiting++;
  }

  private dequeue(ticket: Ticket<Item>): void {
    const { flow } = ticket;
    assert(ticket.chain === flow.waiting, 'a request that leaves its queue stands in it');
    flow.waiting.remove(ticket);
    flow.waitingRequests--;
    this.waiting--;
    if (flow.waitingRequests > 0) return;
    this.flows.splice(this.flows.indexOf(flow), 1);
    this.byKey.delete(keyOf(flow.sloClass, flow.tenant));
  }

  /** An empty queue takes no memory. */
  private flowOf(sloClass: SloClass, tenant: string): Flow<Item> {
    return this.byKey.get(keyOf(sloClass, tenant)) ?? new Flow(sloClass, tenant);
  }
}

function keyOf({ name }: SloClass, tenant: string): string {
  return `${name}\0${tenant}`;
}
