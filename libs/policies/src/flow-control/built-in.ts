import type { Micros } from '@baton/kernel';
import { FairShare } from './fair-share';
import type { FlowContext, FlowPolicy, FlowQueue, Service } from './policy';

export const FLOW_POLICY_KINDS = ['fcfs', 'priority', 'wfq', 'edf'] as const;
export type FlowPolicyKind = (typeof FLOW_POLICY_KINDS)[number];

/** @param timeoutUs the deadline of requests whose class has no TTFT target */
export function builtInPolicy(kind: FlowPolicyKind, timeoutUs: Micros): FlowPolicy {
  switch (kind) {
    case 'fcfs':
      return { pick: ({ flows }) => leastOf(flows, () => 0) };
    case 'edf':
      return { pick: ({ flows }) => leastOf(flows, (flow) => deadlineUs(flow, timeoutUs)) };
    case 'priority':
      return new ByClass(({ sloClass }) => sloClass.priority);
    case 'wfq':
      return new FairClasses();
  }
}

/** Time at which the first token of the oldest request is due. */
function deadlineUs({ sloClass, oldest }: FlowQueue, timeoutUs: Micros): Micros {
  return oldest.arrivalUs + (sloClass.ttftUs ?? timeoutUs);
}

/** The flow with the lowest key; on a tie, the one with the oldest request. */
function leastOf(flows: readonly FlowQueue[], keyOf: (flow: FlowQueue) => number): number {
  let least = 0;
  let leastKey = Infinity;
  for (const [index, flow] of flows.entries()) {
    const key = keyOf(flow);
    const isOlder = key === leastKey && flow.oldest.order < flows[least]!.oldest.order;
    if (key < leastKey || isOlder) {
      least = index;
      leastKey = key;
    }
  }
  return least;
}

/** The class with the lowest key, and in it the tenant with the least service. */
class ByClass implements FlowPolicy {
  private readonly tenants = new Map<string, FairShare>();

  constructor(private readonly keyOf: (flow: FlowQueue) => number) {}

  pick({ flows }: FlowContext): number {
    const { sloClass } = flows[leastOf(flows, this.keyOf)]!;
    const shares = this.tenantsOf(sloClass.name);
    const ofClass = flows.filter((flow) => flow.sloClass === sloClass);
    shares.look(ofClass.map(({ tenant }) => ({ key: tenant, weight: 1 })));
    return leastOf(flows, (flow) =>
      flow.sloClass === sloClass ? shares.startOf(flow.tenant) : Infinity,
    );
  }

  served({ sloClass, tenant }: Pick<FlowQueue, 'sloClass' | 'tenant'>, service: Service): void {
    this.tenantsOf(sloClass.name).served(tenant, service);
  }

  private tenantsOf(name: string): FairShare {
    const known = this.tenants.get(name);
    if (known !== undefined) return known;
    const shares = new FairShare();
    this.tenants.set(name, shares);
    return shares;
  }
}

/** Classes share the service by their weights, and the tenants of a class share it equally. */
class FairClasses implements FlowPolicy {
  private readonly classes = new FairShare();
  private readonly byClass = new ByClass(({ sloClass }) => this.classes.startOf(sloClass.name));

  pick(context: FlowContext): number {
    const { flows } = context;
    this.classes.look(flows.map(({ sloClass: { name, weight } }) => ({ key: name, weight })));
    return this.byClass.pick(context);
  }

  served(flow: Pick<FlowQueue, 'sloClass' | 'tenant'>, service: Service): void {
    this.classes.served(flow.sloClass.name, service, flow.sloClass.weight);
    this.byClass.served(flow, service);
  }
}
