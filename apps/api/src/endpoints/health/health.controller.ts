import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf } from '../../http/request-context';
import { API_IDENTITY, type ApiIdentity } from '../../tokens';
import { Readiness } from './readiness';

/** Whether requests would be served. `/health` and `/ping` speak vLLM, `/health_generate` SGLang: a status and no body. */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
  ) {}

  @Get(['health', 'ping', 'health_generate'])
  health(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { engineId } = contextOf(request.raw);
    void reply.code(this.readiness.isServing(engineId) ? 200 : 503).send();
  }

  @Post('ping')
  @HttpCode(200)
  ping(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.health(request, reply);
  }

  /** Answers as long as the process runs; says nothing of the cluster. */
  @Get('health/live')
  live(): { status: 'ok'; pid: number; api_id: string } {
    return { status: 'ok', pid: process.pid, api_id: this.identity.apiId };
  }

  @Get('health/ready')
  ready(@Res() reply: FastifyReply): void {
    const missing = this.readiness.missing();
    const isReady = missing.length === 0;
    void reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', missing });
  }
}
