import { Controller, Get, Header, HttpStatus, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { WorkerProbe } from './worker-probe';

/** The endpoints of a worker process for orchestrators and scrapers. */
@Controller()
export class WorkerController {
  constructor(private readonly probe: WorkerProbe) {}

  /** Answers 200 while the process runs, in any state of its engines. */
  @Get('health')
  health(): void {
    return undefined;
  }

  /** 503 while no engine of this process takes work. */
  @Get('health/ready')
  ready(@Res() reply: FastifyReply): void {
    void reply.status(this.probe.isReady ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE).send();
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  metrics(): Promise<string> {
    return this.probe.metrics();
  }
}
