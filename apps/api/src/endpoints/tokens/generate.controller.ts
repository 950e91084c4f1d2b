import { parseGenerate, renderGenerate, StreamedGenerate } from '@baton/token-api';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import { type Ask, callOf } from '../../request/take/call';
import { RequestWay } from '../../request/way';

/** Tokens in, tokens out: for routers that tokenize by themselves. */
@Controller('inference/v1/generate')
export class GenerateController {
  constructor(private readonly generation: RequestWay) {}

  @Describe('Text', 'Continue token ids with token ids', { body: 'GenerateRequest', ...STREAMED })
  @Post()
  generate(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(askTokens, { body, request, reply }));
  }
}

const askTokens: Ask = (body, limits) => {
  const request = parseGenerate(body, limits);
  return {
    request,
    answerId: (requestId) => requestId,
    answer: ({ http, plans, head, options }) =>
      request.stream
        ? new StreamAnswer(http, new StreamedGenerate(request, head, plans, options))
        : new WholeAnswer(http, plans, (results, facts) =>
            renderGenerate({ request, head, options }, results, facts),
          ),
  };
};
