import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readiness } from '../../endpoints/health/readiness';
import { Describe, NOTHING } from '../../http/operation';
import { contextOf } from '../../http/request-context';

/** SGLang's health check: a status without a body, as at `/health`. */
@Controller('health_generate')
export class HealthGenerateController {
  constructor(private readonly readiness: Readiness) {}

  @Describe('Health and metrics', 'Check whether requests are served', {
    ...NOTHING,
    detail: 'Status 503 when they are not.',
  })
  @Get()
  health(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { engineId } = contextOf(request.raw);
    void reply.code(this.readiness.isServing(engineId) ? 200 : 503).send();
  }
}
