import { RandomStream } from '@baton/kernel';
import { type OwnSpec, PolicyError, type PolicyFault } from '../placement/guarded';
import { describe, expect, it } from 'vitest';
import { buildFlowPolicy } from './build-policy';
import type { FlowContext, FlowPolicy, FlowQueue } from './policy';
import { ONLY_CLASS } from './slo-class';

function flow(order: number): FlowQueue {
  const oldest = { promptTokens: 10, arrivalUs: order, order };
  return { sloClass: ONLY_CLASS, tenant: `t${order}`, waitingRequests: 1, oldest };
}

const CONTEXT: FlowContext = { flows: [flow(2), flow(1), flow(3)], nowUs: 5, underWay: 1 };

function built(policy: FlowPolicy, faults?: PolicyFault[]): FlowPolicy {
  const spec: OwnSpec<FlowPolicy> = {
    kind: 'own',
    path: './mine.mjs',
    module: { create: () => policy },
  };
  const watch = faults && { onFault: (fault: PolicyFault) => void faults.push(fault) };
  return buildFlowPolicy(spec, { timeoutUs: 1, random: RandomStream.root(1), watch });
}

describe('a user’s own flow control policy', () => {
  it('picks the flow, and is notified of the service of flows', () => {
    const had: unknown[] = [];
    const own = built({ pick: () => 2, served: (...served) => void had.push(served) });
    expect(own.pick(CONTEXT)).toBe(2);
    const service = { promptTokens: 10, outputTokens: 0 };
    own.served?.(CONTEXT.flows[2]!, service);
    expect(had).toEqual([[CONTEXT.flows[2], service]]);
  });

  it.each([[3], [-1], [0.5], [undefined]])('falls back to the oldest request for %j', (answer) => {
    const faults: PolicyFault[] = [];
    expect(built({ pick: () => answer as number }, faults).pick(CONTEXT)).toBe(1);
    expect(faults).toMatchObject([{ kind: 'wrong_answer', stage: 'flow' }]);
    expect(faults[0]?.message).toContain('pick (flow) returned');
  });

  it('reports an async method, whose rejection ends no process', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): unknown => rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    const faults: PolicyFault[] = [];
    const served = (): never => Promise.reject(new Error('no')) as never;
    const service = { promptTokens: 10, outputTokens: 0 };
    built({ pick: () => 0, served }, faults).served?.(CONTEXT.flows[0]!, service);
    // Rejections without a handler are reported before the next task.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
    expect(faults[0]?.message).toContain('served (flow) returned a promise; expected nothing');
  });

  it('ends the run at its first fault when nothing counts faults', () => {
    expect(() => built({ pick: () => 9 }).pick(CONTEXT)).toThrow(PolicyError);
  });
});
