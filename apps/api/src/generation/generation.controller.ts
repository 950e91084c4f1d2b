import type { Endpoint } from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf } from '../http/request-context';
import { GenerationService } from './generation.service';

/** The two ways to ask for text. The answer is written by the exchange, streamed or in one piece. */
@Controller('v1')
export class GenerationController {
  constructor(private readonly generation: GenerationService) {}

  @Post('chat/completions')
  chat(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('chat', { body, request, reply });
  }

  @Post('completions')
  completions(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('completions', { body, request, reply });
  }

  private answer(endpoint: Endpoint, { body, request, reply }: Received): Promise<void> {
    return this.generation.answer({
      ...contextOf(request.raw),
      endpoint,
      body,
      response: reply.raw,
      takeOver: () => void reply.hijack(),
    });
  }
}

interface Received {
  readonly body: unknown;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}
