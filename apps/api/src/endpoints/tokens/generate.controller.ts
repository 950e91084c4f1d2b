import { GenerateRequest } from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { makeCall } from '../../request/take/call';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';
import { tokenReader } from './token-reader';

/** Token ids in and out, for routers that tokenize themselves. */
@Controller('inference/v1/generate')
@ServedByEngines()
export class GenerateController {
  constructor(private readonly generation: RequestWay) {}

  @Describe('Text', 'Continue token ids with token ids', {
    body: 'GenerateRequest',
    result: 'GeneratedTokens',
    ...STREAMED,
  })
  @Post()
  generate(
    @Body(EngineBodyPipe) body: GenerateRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(makeCall(tokenReader, { body, request, reply }));
  }
}
