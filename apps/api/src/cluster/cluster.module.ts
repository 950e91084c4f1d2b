import { SystemWallClock } from '@baton/clock';
import { type BatonConfig, LiveSettings } from '@baton/config';
import {
  buildRouting,
  type JobRouting,
  PolicyDecisionBook,
  PolicyFaultBook,
} from '@baton/engine-host';
import type { Logger } from '@baton/telemetry';
import { liveWatch, type PolicyFault, type PolicyWatch } from '@baton/policies';
import { channels, jsonListener, type Transport } from '@baton/transport';
import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ApiIdentity, Config, Log, POLICY_WATCH, ROUTING, Broker } from '../tokens';
import { TextSetup } from '../request/plan/text-setup';
import { AdapterRegistry } from './adapters/adapter-registry';
import { ClusterView } from './cluster-view';
import { ExposedEngines } from './exposed-engines';
import { KvCapacity } from './kv-capacity';
import { ModelCatalog } from './model-catalog';
import { Submitter } from './submitter';

const PROVIDERS = [
  AdapterRegistry,
  ClusterView,
  ExposedEngines,
  KvCapacity,
  ModelCatalog,
  Submitter,
  { provide: PolicyFaultBook, inject: [Log], useFactory: makeFaultBook },
  { provide: PolicyDecisionBook, useFactory: () => new PolicyDecisionBook() },
  {
    provide: POLICY_WATCH,
    inject: [PolicyFaultBook, PolicyDecisionBook],
    useFactory: policyWatchOf,
  },
  {
    provide: ROUTING,
    inject: [Config, Broker, ApiIdentity, Log, POLICY_WATCH],
    useFactory: routingOf,
  },
  {
    provide: TextSetup,
    inject: [Config, Log],
    useFactory: (config: BatonConfig, logger: Logger) => TextSetup.open(config, logger),
  },
  { provide: LiveSettings, inject: [Config, Broker, Log], useFactory: openSettings },
];

/**
 * This process's view of the cluster: engines, models, adapters, settings and the placement of
 * jobs.
 */
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ClusterModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(ROUTING) private readonly routing: JobRouting,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
    @Inject(PolicyFaultBook) private readonly faults: PolicyFaultBook,
    private readonly transport: Broker,
    private readonly logger: Log,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.settings.start();
    await this.routing.start();
    await this.transport.bus.subscribe(
      channels.policyFaults,
      jsonListener<PolicyFault>(this.logger, (fault) => this.faults.count(fault)),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.settings.stop();
    await this.routing.stop().catch(() => undefined);
  }
}

function makeFaultBook(log: Logger): PolicyFaultBook {
  return new PolicyFaultBook((message) => log.warn(message));
}

function policyWatchOf(faults: PolicyFaultBook, decisions: PolicyDecisionBook): PolicyWatch {
  return liveWatch(
    (fault) => faults.add(fault),
    (decision) => decisions.add(decision),
  );
}

type RoutingParts = [BatonConfig, Transport, ApiIdentity, Logger, PolicyWatch];

function routingOf(...[config, transport, identity, log, policyWatch]: RoutingParts): JobRouting {
  const where = { routerId: identity.apiId, role: 'api', wall: new SystemWallClock() } as const;
  return buildRouting({ config, transport, ...where, log, policyWatch });
}

function openSettings(config: BatonConfig, transport: Transport, log: Logger): LiveSettings {
  const wall = new SystemWallClock();
  return new LiveSettings({ config, transport, log, nowUs: () => wall.nowUs() });
}
