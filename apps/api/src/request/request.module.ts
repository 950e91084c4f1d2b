import { LiveClock, SystemWallClock } from '@baton/clock';
import type { BatonConfig } from '@baton/config';
import { Module, type OnModuleInit } from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module';
import { FramesModule } from '../frames/frames.module';
import { HttpModule } from '../http/http.module';
import { ObserversModule } from '../observers/observers.module';
import { RoutersModule } from '../routers/routers.module';
import { ClusterView } from '../cluster/cluster-view';
import { WaitingTotals } from '../observers/port/state';
import { Config } from '../tokens';
import { AdmitStep } from './admit';
import { AdmissionGate } from './admit/admission-gate';
import { FlowGate } from './admit/flow-gate';
import { PolicyGate } from './admit/policy-gate';
import { AnswerOpening } from './serve/answer-opening';
import { ServeStep } from './serve';
import { JobFactory } from './serve/job-factory';
import { JobPlacement } from './serve/job-placement';
import { RequestDrain } from './drain';
import { Exchanges } from './serve/exchanges';
import { Executions } from './executed/executions';
import { FaultInjector } from './faults/fault-injector';
import { PlanStep } from './plan';
import { Replies } from './plan/replies';
import { Player } from './playing/player';
import { RefusalFilter } from './refusal.filter';
import { Refusals } from './refusals';
import { RouteStep } from './route';
import { TakeStep } from './take';
import { AcceptingState } from './take/accepting-state';
import { AcceptingGuard } from './take/accepting.guard';
import { RequestThreads } from './threads/request-threads';
import { RequestWay } from './way';

const PROVIDERS = [
  AdmissionGate,
  AdmitStep,
  AnswerOpening,
  ServeStep,
  Exchanges,
  Executions,
  FaultInjector,
  FlowGate,
  JobFactory,
  JobPlacement,
  AcceptingGuard,
  AcceptingState,
  PlanStep,
  Player,
  RefusalFilter,
  Refusals,
  Replies,
  RequestDrain,
  RequestThreads,
  RequestWay,
  RouteStep,
  PolicyGate,
  TakeStep,
  { provide: WaitingTotals, useExisting: AdmissionGate },
  {
    provide: LiveClock,
    inject: [Config],
    useFactory: ({ speedup }: BatonConfig) => new LiveClock(new SystemWallClock(), speedup),
  },
];

/** The way of a request, from its body to its answer. */
@Module({
  imports: [ClusterModule, FramesModule, HttpModule, ObserversModule, RoutersModule],
  providers: PROVIDERS,
  exports: [...PROVIDERS, HttpModule],
})
export class RequestModule implements OnModuleInit {
  constructor(
    private readonly gate: AdmissionGate,
    private readonly cluster: ClusterView,
  ) {}

  onModuleInit(): void {
    this.cluster.onEngines((engines) => this.gate.noteEngines(engines));
    this.cluster.onRead(() => void this.gate.refreshTotals().catch(() => undefined));
  }
}
