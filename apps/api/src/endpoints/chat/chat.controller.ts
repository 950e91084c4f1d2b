import { ChatCompletionBatchRequest, ChatCompletionRequest } from '@baton/openai';
import { isToBeStored } from '@baton/responses';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LargeBody } from '../../http/body/large-body';
import { Describe, STREAMED } from '../../http/operation';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { chatBatchReader, makeCall, TEXT_ENDPOINTS } from '../../request/take/call';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';
import { StoredChatsService } from './stored-chats.service';

/** Chat completions. The exchange writes the answers, streamed or in one piece. */
@Controller('v1/chat/completions')
@ServedByEngines()
export class ChatController {
  constructor(
    private readonly generation: RequestWay,
    private readonly stored: StoredChatsService,
  ) {}

  @Describe('Text', 'Answer a conversation', {
    body: 'ChatCompletionRequest',
    result: 'ChatCompletion',
    ...STREAMED,
  })
  @Post()
  chat(
    @Body(EngineBodyPipe) body: ChatCompletionRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const received = { body, request, reply };
    const mayBeStored = body instanceof LargeBody || isToBeStored(body);
    const reader = mayBeStored ? this.stored.readerFor(received) : TEXT_ENDPOINTS.chat;
    return this.generation.answer(makeCall(reader, received));
  }

  @Describe('Text', 'Answer several conversations in one request', {
    body: 'ChatCompletionBatchRequest',
    result: 'ChatCompletion',
  })
  @Post('batch')
  chatBatch(
    @Body(EngineBodyPipe) body: ChatCompletionBatchRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(makeCall(chatBatchReader, { body, request, reply }));
  }
}
