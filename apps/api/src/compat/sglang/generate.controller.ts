import { SglangGenerateRequest } from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { makeCall } from '../../request/take/call';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';

/** SGLang's native API. Its load balancers send the legs of a hand-over here. */
@Controller('generate')
@ServedByEngines()
export class SglangGenerateController {
  constructor(private readonly generation: RequestWay) {}

  @Describe('Text', "Continue texts or token ids in SGLang's shape", {
    body: 'SglangGenerateRequest',
    result: 'SglangGenerated',
    ...STREAMED,
  })
  @Post()
  async generate(
    @Body(EngineBodyPipe) body: SglangGenerateRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { sglangReader } = await import('./native-reader');
    await this.generation.answer(makeCall(sglangReader, { body, request, reply }));
  }
}
