import type { ServerResponse } from 'node:http';
import { type Alarm, LiveClock } from '@baton/clock';
import { flowControlSpec } from '@baton/config';
import { BatonError } from '@baton/contract';
import {
  buildFlowPolicy,
  type DropReason,
  FlowControl,
  type FlowLimits,
  type FlowPolicy,
  type Ticket,
  type PolicyWatch,
  retryAfterSeconds,
} from '@baton/policies';
import { type Micros, RandomStream, usToMs, usToSeconds } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import type { Charge } from '../../http/access/rate-limits';
import { CallClasses } from '../../http/access/call-classes';
import { FlowMetrics } from '../../observers/metrics/flow-metrics';
import { Config, POLICY_WATCH, Broker } from '../../tokens';
import type { Call } from '../take/call';
import { DrainRate } from './admission-gate';

/** A waiting request. */
interface Waiter {
  readonly pass: (pass: FlowPass) => void;
  readonly refuse: (error: BatonError) => void;
}

const REFUSALS = { full: 'flow_queue_full', shed: 'flow_shed', timeout: 'flow_timeout' } as const;

/** A request that has passed the gate, until `settle`. It carries its rate-limit charge. */
export class FlowPass implements Charge {
  private charge: Charge | undefined;

  constructor(
    /** Wait of the request, simulated. */
    readonly waitedUs: Micros,
    /** µs since the Unix epoch; undefined when it did not wait. */
    readonly passedUs: number | undefined,
    private readonly end: (usedTokens: number) => void,
  ) {}

  with(charge: Charge | undefined): this {
    this.charge = charge;
    return this;
  }

  settle(usedTokens: number): void {
    this.charge?.settle(usedTokens);
    this.end(usedTokens);
  }
}

/**
 * Holds requests back while too many are under way, and releases them in the order of the policy.
 * Every API process has its own queues and its own share of the limit, and counts only its own
 * requests.
 */
@Injectable()
export class FlowGate implements OnApplicationShutdown {
  readonly isOn: boolean;
  private readonly control: FlowControl<Waiter>;
  private readonly concurrency: number;
  private readonly drain = new DrainRate();
  private alarm: Alarm | undefined;

  constructor(
    private readonly config: Config,
    private readonly classes: CallClasses,
    private readonly cluster: ClusterView,
    private readonly metrics: FlowMetrics,
    @Inject(POLICY_WATCH) watch: PolicyWatch,
    private readonly clock: LiveClock,
    private readonly transport: Broker,
  ) {
    const spec = flowControlSpec(config);
    const limits = spec?.limits ?? NO_LIMITS;
    const random = RandomStream.root(config.seed).stream('flow control');
    const parts = { timeoutUs: limits.timeoutUs, random, watch };
    const policy: FlowPolicy = buildFlowPolicy(spec?.policy ?? 'fcfs', parts);
    this.isOn = spec !== undefined;
    this.concurrency = spec?.concurrency ?? Infinity;
    this.control = new FlowControl(policy, limits, () => this.capacity(), {
      onPass: (ticket, nowUs) => this.passed(ticket, nowUs),
      onDrop: (ticket, why) => this.dropped(ticket, why),
    });
    if (!this.isOn) return;
    metrics.follow(this.control);
    cluster.onEngines(() => this.releaseWaiting());
    transport.onConnection(() => this.releaseWaiting());
  }

  onApplicationShutdown(): void {
    this.alarm?.cancel();
  }

  /**
   * Resolves when it is the request's turn; immediately while the gate is open. The caller must
   * settle the pass.
   *
   * @throws BatonError `flow_queue_full`, `flow_shed`, `flow_timeout`
   */
  pass(call: Call, { prompts }: GenerationRequest): Promise<FlowPass> {
    const promptTokens = prompts.reduce((sum, { ids }) => sum + ids.length, 0);
    const sloClass = this.classes.of(call);
    const tenant = this.classes.tenantOf(call);
    return new Promise((resolve, reject) => {
      const waiter = { pass: resolve, refuse: reject };
      const ticket = this.control.offer(
        waiter,
        { sloClass, tenant, promptTokens },
        this.clock.nowUs(),
      );
      this.expectTimeout();
      if (ticket.state === 'waiting') this.watch(call.response, ticket);
    });
  }

  /** Frees the place of a client that leaves. */
  private watch(response: ServerResponse, ticket: Ticket<Waiter>): void {
    response.once('close', () => {
      if (ticket.state !== 'waiting') return;
      this.control.withdraw(ticket);
      this.metrics.count(ticket.flow, 'left');
      ticket.item.refuse(new BatonError('flow_queue_full'));
    });
  }

  private passed(ticket: Ticket<Waiter>, nowUs: Micros): void {
    const waitedUs = nowUs - ticket.arrivalUs;
    this.metrics.count(ticket.flow, 'passed');
    this.metrics.waited(ticket.flow.sloClass, usToSeconds(waitedUs) / this.config.speedup);
    this.drain.add(1, usToMs(this.clock.wall.nowUs()));
    const passedUs = waitedUs > 0 ? this.clock.wall.nowUs() : undefined;
    ticket.item.pass(new FlowPass(waitedUs, passedUs, (used) => this.endRequest(ticket, used)));
  }

  private endRequest(ticket: Ticket<Waiter>, usedTokens: number): void {
    this.control.endRequest(ticket, Math.max(0, usedTokens - ticket.promptTokens));
    // Requests that end at once all count before the next one passes, as on the virtual clock.
    queueMicrotask(() => this.releaseWaiting());
  }

  private dropped(ticket: Ticket<Waiter>, why: DropReason): void {
    this.metrics.count(ticket.flow, why);
    const perSecond = this.drain.perSecond(usToMs(this.clock.wall.nowUs()));
    const seconds = retryAfterSeconds(Math.max(1, this.control.waiting), perSecond);
    ticket.item.refuse(new BatonError(REFUSALS[why], undefined, null, seconds));
  }

  private releaseWaiting(): void {
    this.control.releaseWaiting(this.clock.nowUs());
    this.expectTimeout();
  }

  private expectTimeout(): void {
    this.alarm?.cancel();
    if (this.control.waiting === 0) return;
    const dueUs = this.clock.toWallUs(this.control.nextTimeoutUs);
    this.alarm = this.clock.wall.around(dueUs, () => this.releaseWaiting());
  }

  /** Requests wait while the broker is gone, because the next step would refuse each of them. */
  private capacity(): number {
    const { cluster } = this;
    if (!this.transport.isConnected) return 0;
    const generating = cluster.readyEngines('decode') + cluster.readyEngines('aggregated');
    return this.concurrency * Math.max(1, generating);
  }
}

const NO_LIMITS: FlowLimits = { perFlow: 0, total: 0, timeoutUs: Infinity };
