import type { BatonConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import { CONFIG, LOGGER } from '../tokens';
import { AdmissionGate } from './admit/admission-gate';
import { KvCapacity } from './admit/kv-capacity';
import { SloGate } from './admit/slo-gate';
import { Dispatcher } from './dispatch/dispatcher';
import { Submitter } from './dispatch/submitter';
import { Drain } from './drain';
import { ExchangeOpener } from './exchange/exchange-opener';
import { LiveExchanges } from './exchange/live-exchanges';
import { Executions } from './executed/executions';
import { FaultInjector } from './faults/fault-injector';
import { OutputPlanner } from './plan/output-planner';
import { Replies } from './plan/text-models/replies';
import { TextSetup } from './plan/text-models/text-setup';
import { Player } from './playing/player';
import { JobPlacement } from './route/job-placement';
import { RoutePlanner } from './route/route-planner';
import { GenerationService } from './take/generation.service';
import { RequestIntake } from './take/request-intake';

const PROVIDERS = [
  AdmissionGate,
  Dispatcher,
  Drain,
  ExchangeOpener,
  Executions,
  FaultInjector,
  GenerationService,
  JobPlacement,
  KvCapacity,
  LiveExchanges,
  OutputPlanner,
  Player,
  Replies,
  RequestIntake,
  RoutePlanner,
  SloGate,
  Submitter,
  {
    provide: TextSetup,
    inject: [CONFIG, LOGGER],
    useFactory: (config: BatonConfig, logger: Logger) => TextSetup.open(config, logger),
  },
];

/** The way of a request, from its body to its answer. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class RequestModule implements OnModuleInit {
  constructor(
    private readonly gate: AdmissionGate,
    private readonly cluster: ClusterView,
  ) {}

  onModuleInit(): void {
    this.cluster.onEngines((engines) => {
      this.gate.noteEngines(engines);
      void this.gate.refreshTotals().catch(() => undefined);
    });
  }
}
