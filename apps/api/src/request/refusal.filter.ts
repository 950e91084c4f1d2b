import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ErrorFilter } from '../http/error.filter';
import { Refusals } from './refusals';
import { unreadCall } from './take/call';

/** Records and answers what is thrown by a request for engines before its jobs are submitted. */
@Catch()
export class RefusalFilter implements ExceptionFilter {
  constructor(
    private readonly refusals: Refusals,
    private readonly errors: ErrorFilter,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    this.refusals.refused(unreadCall({ body: request.body, request, reply }), exception);
    this.errors.catch(exception, host);
  }
}
