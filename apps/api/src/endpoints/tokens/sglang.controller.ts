import {
  isSglangBatch,
  parseSglangGenerate,
  renderSglangGenerate,
  StreamedSglangGenerate,
} from '@baton/token-api';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import { type Ask, callOf } from '../../request/take/call';
import { RequestWay } from '../../request/way';

/** SGLang's native API, to which its load balancers send the legs of a hand-over. */
@Controller('generate')
export class SglangController {
  constructor(private readonly generation: RequestWay) {}

  @Describe('Text', "Continue texts or token ids, in SGLang's way", {
    body: 'SglangGenerateRequest',
    ...STREAMED,
  })
  @Post()
  generate(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(askSglang, { body, request, reply }));
  }
}

const askSglang: Ask = (body, limits) => {
  const request = parseSglangGenerate(body, limits);
  const isBatch = isSglangBatch(body);
  return {
    request,
    answerId: (requestId) => requestId,
    answer: ({ http, plans, head, options }) => {
      const context = { request, head, options };
      return request.stream
        ? new StreamAnswer(http, new StreamedSglangGenerate(context, plans, isBatch))
        : new WholeAnswer(http, plans, (results, facts) =>
            renderSglangGenerate({ ...context, isBatch }, results, facts),
          );
    },
  };
};
