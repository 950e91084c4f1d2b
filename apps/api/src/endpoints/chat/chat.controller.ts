import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe, STREAMED } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { type Ask, askChatBatch, callOf } from '../../request/take/call';
import { RequestWay } from '../../request/way';
import { StoredChatsService } from './stored-chats.service';

/** Answers to conversations, written by the exchange: streamed or in one piece. */
@Controller('v1/chat/completions')
export class ChatController {
  constructor(
    private readonly generation: RequestWay,
    private readonly stored: StoredChatsService,
  ) {}

  @Describe('Text', 'Answer a conversation', {
    ...{ body: 'ChatCompletionRequest', result: 'ChatCompletion', ...STREAMED },
  })
  @Post()
  chat(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { arrivalUs } = contextOf(request.raw);
    const ask: Ask = (asked, limits) => this.stored.ask(asked, limits, arrivalUs);
    return this.generation.answer(callOf(ask, { body, request, reply }));
  }

  @Describe('Text', 'Answer several conversations at once', {
    ...{ body: 'ChatCompletionBatchRequest', result: 'ChatCompletion' },
  })
  @Post('batch')
  chatBatch(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(askChatBatch, { body, request, reply }));
  }
}
