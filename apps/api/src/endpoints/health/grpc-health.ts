import { UsageError } from '@baton/config';
import type { sendUnaryData, Server, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Config } from '../../tokens';
import { HEALTH_SERVICE, type HealthRequest, type HealthStatus } from './grpc-health-messages';
import { Readiness } from './readiness';

/**
 * Interval at which watched services are checked, because their status may change without an event.
 */
const LOOK_EVERY_MS = 250;
/** Limit of watches per process; each costs a little at every check. */
const MAX_WATCHES = 1_000;

type Watch = ServerWritableStream<HealthRequest, HealthStatus>;

/**
 * gRPC's health protocol, with the services of the inference extension's endpoint picker: `''` and
 * `readiness` answer as `/health` does, `liveness` while the process runs.
 */
@Injectable()
export class GrpcHealth implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;
  private look: NodeJS.Timeout | undefined;
  private readonly watches = new Map<Watch, HealthStatus>();

  constructor(
    private readonly config: Config,
    private readonly readiness: Readiness,
  ) {}

  /** @throws UsageError when the port is taken */
  async onApplicationBootstrap(): Promise<void> {
    const { grpcHealthPort: port, host } = this.config;
    if (port === undefined) return;
    const { Server, ServerCredentials } = await import('@grpc/grpc-js');
    const server = new Server({ 'grpc.max_receive_message_length': 4_096 });
    server.addService(HEALTH_SERVICE, {
      Check: this.check.bind(this),
      Watch: this.watch.bind(this),
    });
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
        if (error === null) resolve();
        else reject(new UsageError(`grpc_health_port: cannot listen on ${address}.`));
      });
    });
    this.server = server;
    this.look = setInterval(() => this.notifyWatches(), LOOK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.look);
    this.server?.forceShutdown();
  }

  private check({ request }: ServerUnaryCall<HealthRequest, HealthStatus>, answer: Answer): void {
    const status = this.statusOf(request.service);
    if (status !== 'SERVICE_UNKNOWN') answer(null, status);
    else answer({ code: NOT_FOUND, details: 'unknown service' });
  }

  private watch(watch: Watch): void {
    if (this.watches.size >= MAX_WATCHES) {
      watch.destroy(Object.assign(new Error('too many watches'), { code: RESOURCE_EXHAUSTED }));
      return;
    }
    this.watches.set(watch, this.statusOf(watch.request.service));
    watch.write(this.statusOf(watch.request.service));
    watch.once('cancelled', () => {
      this.watches.delete(watch);
      watch.end();
    });
  }

  private notifyWatches(): void {
    for (const [watch, before] of this.watches) {
      const now = this.statusOf(watch.request.service);
      if (now === before) continue;
      this.watches.set(watch, now);
      watch.write(now);
    }
  }

  private statusOf(service: string): HealthStatus {
    switch (service) {
      case '':
      case 'readiness':
        return this.readiness.isServing(undefined) ? 'SERVING' : 'NOT_SERVING';
      case 'liveness':
        return 'SERVING';
      default:
        return 'SERVICE_UNKNOWN';
    }
  }
}

type Answer = sendUnaryData<HealthStatus>;

/** `NOT_FOUND` of google.rpc.Code. */
const NOT_FOUND = 5;
const RESOURCE_EXHAUSTED = 8;
