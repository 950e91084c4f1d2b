import { SystemWallClock } from '@baton/clock';
import { type BatonConfig, LiveSettings } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { WorkerHosts } from './worker-hosts';

/** The dependencies that a worker process gets from outside. */
export interface WorkerDependencies {
  readonly config: BatonConfig;
  /** Most tokens of a prompt and its answer together that its engines take. */
  readonly maxModelLen: number;
  readonly hosts: WorkerHosts;
  readonly transport: Transport;
  readonly log: Logger;
}

/** `WorkerDependencies` by their injection token. */
export const WORKER = Symbol('worker');

/**
 * The engines of the process and the settings that change while they run. Engines drain while
 * health and metrics are still served.
 */
@Global()
@Module({})
export class EnginesModule implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  constructor(
    private readonly hosts: WorkerHosts,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
  ) {}

  static forRoot(dependencies: WorkerDependencies): DynamicModule {
    return {
      module: EnginesModule,
      providers: [
        { provide: WORKER, useValue: dependencies },
        { provide: WorkerHosts, useValue: dependencies.hosts },
        { provide: LiveSettings, inject: [WORKER], useFactory: openSettings },
      ],
      exports: [WORKER, WorkerHosts, LiveSettings],
    };
  }

  async onModuleInit(): Promise<void> {
    await this.settings.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.hosts.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.settings.stop();
  }
}

function openSettings({ config, transport, log }: WorkerDependencies): LiveSettings {
  const wall = new SystemWallClock();
  return new LiveSettings({ config, transport, log, nowUs: () => wall.nowUs() });
}
