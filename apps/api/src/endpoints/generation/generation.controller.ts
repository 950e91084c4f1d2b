import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { askChatBatch, TEXT_ENDPOINTS } from '../../request/take/asked';
import { callOf } from '../../request/take/call';
import { RequestWay } from '../../request/way';

/** The two ways to ask for text. The answer is written by the exchange, streamed or in one piece. */
@Controller('v1')
export class GenerationController {
  constructor(private readonly generation: RequestWay) {}

  @Post('chat/completions')
  chat(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(TEXT_ENDPOINTS.chat, { body, request, reply }));
  }

  @Post('chat/completions/batch')
  chatBatch(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(askChatBatch, { body, request, reply }));
  }

  @Post('completions')
  completions(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(TEXT_ENDPOINTS.completions, { body, request, reply }));
  }
}
