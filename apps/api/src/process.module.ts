import type { BatonConfig } from '@baton/config';
import { type Logger, moduleLogger, registryWithExemplars } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { LiveMembership } from '@baton/engine-host';
import { type DynamicModule, Global, Module, type Provider, Scope } from '@nestjs/common';
import { INQUIRER } from '@nestjs/core';
import { Registry } from 'prom-client';
import { AdminKey } from './http/access/admin-key';
import { KnownRoutes } from './http/known-routes';
import { Listeners } from './http/listeners';
import { ApiProcesses } from './processes/api-processes';
import { ApiIdentity, Config, Log, Broker } from './tokens';

/** The dependencies that the process gets from outside. */
export interface ProcessDependencies {
  readonly config: BatonConfig;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly identity: ApiIdentity;
  readonly membership: LiveMembership;
  readonly apiProcesses: ApiProcesses;
  // These stand before Nest's application exists, because its server uses them.
  readonly listeners: Listeners;
  readonly routes: KnownRoutes;
  readonly adminKey: AdminKey;
}

/** What every other module may use: the configuration, the broker, the log, the server's parts. */
@Global()
@Module({})
export class ProcessModule {
  static forRoot(dependencies: ProcessDependencies): DynamicModule {
    const { config, transport, logger, identity, membership, apiProcesses } = dependencies;
    const { listeners, routes, adminKey } = dependencies;
    return {
      module: ProcessModule,
      providers: [
        { provide: Config, useValue: config },
        { provide: Broker, useValue: transport },
        { provide: ApiIdentity, useValue: identity },
        { provide: LiveMembership, useValue: membership },
        { provide: ApiProcesses, useValue: apiProcesses },
        { provide: Listeners, useValue: listeners },
        { provide: KnownRoutes, useValue: routes },
        { provide: AdminKey, useValue: adminKey },
        // The metrics of this process. A test has several processes in one.
        { provide: Registry, useFactory: () => registryFor(config) },
        loggerProvider(logger),
      ],
      exports: [
        Config,
        Broker,
        ApiIdentity,
        LiveMembership,
        Log,
        ApiProcesses,
        Listeners,
        KnownRoutes,
        AdminKey,
        Registry,
      ],
    };
  }
}

function registryFor({ otlpTracesEndpoint }: BatonConfig): Registry {
  return otlpTracesEndpoint === undefined ? new Registry() : registryWithExemplars();
}

/**
 * Each part logs under its own name: `frame-inbox` is FrameInbox. An object made by a factory has
 * no name.
 */
function loggerProvider(logger: Logger): Provider {
  const useFactory = (user: object | null | undefined): Logger =>
    user ? moduleLogger(logger, kebab(user.constructor.name)) : logger;
  return { provide: Log, scope: Scope.TRANSIENT, inject: [INQUIRER], useFactory };
}

function kebab(className: string): string {
  return className.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}
