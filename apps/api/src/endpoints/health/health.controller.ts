import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, NOTHING } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { ApiIdentity } from '../../tokens';
import { Readiness } from './readiness';

/** Health checks. `/health` and `/ping` are vLLM's: a status without a body. */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly identity: ApiIdentity,
  ) {}

  @Describe('Health and metrics', 'Check whether requests are served', {
    ...NOTHING,
    detail: 'Status 503 when they are not.',
  })
  @Get(['health', 'ping'])
  health(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { engineId } = contextOf(request.raw);
    void reply.code(this.readiness.isServing(engineId) ? 200 : 503).send();
  }

  @Describe('Health and metrics', 'Check whether requests are served', {
    ...NOTHING,
    detail: 'Status 503 when they are not.',
  })
  @Post('ping')
  @HttpCode(200)
  ping(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.health(request, reply);
  }

  /** Answers while the process runs, whatever the state of the cluster. */
  @Describe('Health and metrics', 'Check whether the process runs', { result: 'Alive' })
  @Get('health/live')
  live(): { status: 'ok'; pid: number; api_id: string } {
    return { status: 'ok', pid: process.pid, api_id: this.identity.apiId };
  }

  @Describe('Health and metrics', 'Check whether every stage has an engine', {
    result: 'Readiness',
    detail: 'Status 503, and the missing stages, when one has none.',
  })
  @Get('health/ready')
  ready(@Res() reply: FastifyReply): void {
    const missing = this.readiness.missing();
    const isReady = missing.length === 0;
    void reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', missing });
  }
}
