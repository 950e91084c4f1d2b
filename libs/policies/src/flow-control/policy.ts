import type { Micros } from '@baton/kernel';
import type { SloClass } from './slo-class';

/** The waiting requests of one class and tenant, in the order in which they came. */
export interface FlowQueue {
  readonly sloClass: SloClass;
  readonly tenant: string;
  readonly waitingRequests: number;
  /** The oldest of them, which goes next when the flow is picked. */
  readonly oldest: OldestRequest;
}

export interface OldestRequest {
  readonly promptTokens: number;
  readonly arrivalUs: Micros;
  /** Rises with each request that waits. */
  readonly order: number;
}

export interface FlowContext {
  /** The flows with waiting requests, at least one. */
  readonly flows: readonly FlowQueue[];
  readonly nowUs: Micros;
  /** Requests under way behind the gate. */
  readonly underWay: number;
}

/** The service of a flow: of a prompt when it passes, of output when the request has ended. */
export interface Service {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Chooses which request passes the gate next; the same object serves both clocks. */
export interface FlowPolicy {
  /** Index into the flows. */
  pick(context: FlowContext): number;
  served?(flow: Pick<FlowQueue, 'sloClass' | 'tenant'>, service: Service): void;
}
