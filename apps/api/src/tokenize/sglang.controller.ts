import {
  isSglangBatch,
  parseSglangGenerate,
  renderSglangGenerate,
  StreamedSglangGenerate,
} from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Ask } from '../generation/asked';
import { callOf } from '../generation/call';
import { GenerationService } from '../generation/generation.service';
import { StreamAnswer } from '../generation/stream-answer';
import { WholeAnswer } from '../generation/whole-answer';

/** SGLang's native API, to which its load balancers send the legs of a hand-over. */
@Controller('generate')
export class SglangController {
  constructor(private readonly generation: GenerationService) {}

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
