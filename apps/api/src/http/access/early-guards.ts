import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import type { FastifyInstance } from 'fastify';
import { AccessGuard } from './access.guard';
import { AdminGuard } from './admin.guard';
import { RateLimitGuard } from './rate-limit.guard';

/**
 * Runs the guards of every request. Nest runs guards at a handler, after the body has been read.
 * These run in the hook that Fastify calls before it reads a body, and also at paths without a
 * handler.
 */
@Injectable()
export class EarlyGuards implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly access: AccessGuard,
    private readonly admin: AdminGuard,
    private readonly limits: RateLimitGuard,
  ) {}

  onModuleInit(): void {
    const guards = [this.access, this.admin, this.limits].filter(({ isNeeded }) => isNeeded);
    if (guards.length === 0) return;
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preParsing', async (request, reply) => {
      const context = new ExecutionContextHost([request, reply]);
      for (const guard of guards) await guard.canActivate(context);
    });
  }
}
