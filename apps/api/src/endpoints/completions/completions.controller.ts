import { CompletionRequest } from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { makeCall, TEXT_ENDPOINTS } from '../../request/take/call';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';

/** Text completions. The exchange writes the answers, streamed or in one piece. */
@Controller('v1/completions')
@ServedByEngines()
export class CompletionsController {
  constructor(private readonly generation: RequestWay) {}

  @Describe('Text', 'Continue prompts', {
    body: 'CompletionRequest',
    result: 'Completion',
    ...STREAMED,
  })
  @Post()
  complete(
    @Body(EngineBodyPipe) body: CompletionRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(makeCall(TEXT_ENDPOINTS.completions, { body, request, reply }));
  }
}
