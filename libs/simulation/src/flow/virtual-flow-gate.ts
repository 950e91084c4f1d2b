import type { RequestLog } from '@baton/analysis';
import { buildFlowPolicy, FlowControl, ONLY_CLASS, type Ticket } from '@baton/policies';
import { type Micros, RandomStream } from '@baton/kernel';
import { rowName } from '@baton/workload';
import { type Calendar, TIE } from '../calendar';
import type { ClusterFlowControl, ClusterScenario, RunObserver } from '../scenario';

export interface FlowGateParts {
  readonly calendar: Calendar;
  readonly slot: number;
  readonly log: RequestLog;
  /** Ready engines that generate. */
  readonly generating: () => number;
  readonly pass: (row: number, nowUs: Micros) => void;
  readonly refuse: (row: number, nowUs: Micros) => void;
  readonly policyWatch: RunObserver['policyWatch'];
}

/**
 * Drives the flow control of a run. When a request ends, the calendar releases the next ones,
 * because the step that ended it is still being handled.
 */
export class VirtualFlowGate {
  private readonly control: FlowControl<number>;
  /** By row: the tickets of requests under way. */
  private readonly tickets: (Ticket<number> | undefined)[] = [];

  constructor(
    { policy, limits, concurrency }: ClusterFlowControl,
    private readonly scenario: Pick<ClusterScenario, 'workload' | 'sloClasses' | 'seed'>,
    private readonly parts: FlowGateParts,
  ) {
    const random = RandomStream.root(scenario.seed).stream('flow control');
    const built = buildFlowPolicy(policy, {
      timeoutUs: limits.timeoutUs,
      random,
      watch: parts.policyWatch,
    });
    const capacity = (): number => concurrency * Math.max(1, parts.generating());
    this.control = new FlowControl(built, limits, capacity, {
      onPass: (ticket, nowUs) => {
        const row = ticket.item;
        this.tickets[row] = ticket;
        parts.log.passedUs!.set(row, nowUs);
        parts.pass(row, nowUs);
      },
      onDrop: ({ item }, _why, nowUs) => parts.refuse(item, nowUs),
    });
  }

  arrive(row: number, nowUs: Micros): void {
    const { workload, sloClasses } = this.scenario;
    const sloClass = sloClasses?.of(row) ?? ONLY_CLASS;
    const tenant = rowName(workload.tenant, row) ?? '';
    const promptTokens = workload.promptTokens[row]!;
    this.control.offer(row, { sloClass, tenant, promptTokens }, nowUs);
    this.expectTimeout();
  }

  /** Records the end of a request, successful or not; ignores a request that never passed. */
  endRequest(row: number, atUs: Micros): void {
    const ticket = this.tickets[row];
    if (ticket === undefined) return;
    this.tickets[row] = undefined;
    this.control.endRequest(ticket, this.parts.log.emittedTokens[row]!);
    this.pumpAt(atUs);
  }

  /**
   * Checks the queues at this instant, because more requests may enter the engines from then on.
   */
  pumpAt(atUs: Micros): void {
    const { calendar, slot } = this.parts;
    if (this.control.waiting > 0 && atUs < calendar.dueUs(slot)) {
      calendar.set(slot, atUs, TIE.arrival);
    }
  }

  releaseWaiting(nowUs: Micros): void {
    this.control.releaseWaiting(nowUs);
    this.expectTimeout();
  }

  private expectTimeout(): void {
    const { calendar, slot } = this.parts;
    if (this.control.waiting === 0) calendar.clear(slot);
    else calendar.set(slot, this.control.nextTimeoutUs, TIE.arrival);
  }
}
