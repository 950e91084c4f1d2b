import type { Micros, RandomStream } from '@baton/kernel';
import {
  Guarded,
  originOf,
  type OwnPolicyParts,
  type OwnSpec,
  type PolicyWatch,
  specName,
  STRICT,
} from '../placement/guarded';
import { reported } from '../placement/timed-policy';
import { builtInPolicy, type FlowPolicyKind } from './built-in';
import type { FlowContext, FlowPolicy, FlowQueue, Service } from './policy';

/** A built-in policy by name, or a user's own one. */
export type FlowPolicySpec = FlowPolicyKind | OwnSpec<FlowPolicy>;

export interface FlowPolicyParts {
  /** Longest wait of a request. */
  readonly timeoutUs: Micros;
  readonly random: RandomStream;
  /** Counts the faults of a user's own policy; by default the first one throws. */
  readonly watch?: PolicyWatch | undefined;
}

export function buildFlowPolicy(spec: FlowPolicySpec, parts: FlowPolicyParts): FlowPolicy {
  const { random, timeoutUs, watch = STRICT } = parts;
  const isBuiltIn = typeof spec === 'string';
  const policy = isBuiltIn
    ? builtInPolicy(spec, timeoutUs)
    : new OwnFlowPolicy(spec, { stage: 'flow', random }, watch);
  const name = isBuiltIn ? spec : specName(spec);
  return reported(policy, 'pick', { kind: 'flow-control', stage: 'flow', policy: name, watch });
}

interface Note {
  readonly flow: Pick<FlowQueue, 'sloClass' | 'tenant'>;
  readonly service: Service;
}

/** A user's own policy. When it picks no flow, the oldest request goes next. */
class OwnFlowPolicy implements FlowPolicy {
  private readonly picks: Guarded<FlowContext, number>;
  private readonly notes: Guarded<Note, true>;
  private readonly fallback = builtInPolicy('fcfs', Infinity);

  constructor(spec: OwnSpec<FlowPolicy>, parts: OwnPolicyParts, watch: PolicyWatch) {
    const own = spec.module.create(parts);
    const from = originOf(spec, parts.stage, own);
    this.picks = new Guarded(
      {
        method: 'pick',
        ask: (context) => own.pick(context),
        isAnswer: (given, { flows }): given is number =>
          Number.isInteger(given) && Number(given) >= 0 && Number(given) < flows.length,
        expected: ({ flows }) => `an integer from 0 to ${flows.length - 1}`,
      },
      from,
      watch,
    );
    // Its result does not matter, unless it is the promise of an `async` method.
    const ask = ({ flow, service }: Note): unknown => {
      const given: unknown = own.served?.(flow, service);
      return given instanceof Promise ? given : true;
    };
    const isAnswer = (given: unknown): given is true => given === true;
    const expected = (): string => 'nothing';
    this.notes = new Guarded({ method: 'served', ask, isAnswer, expected }, from, watch);
  }

  pick(context: FlowContext): number {
    return this.picks.answer(context) ?? this.fallback.pick(context);
  }

  served(flow: Note['flow'], service: Service): void {
    this.notes.answer({ flow, service });
  }
}
