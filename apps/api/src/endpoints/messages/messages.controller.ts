import { assert } from '@baton/kernel';
import {
  countTokensBody,
  messageId,
  parseMessages,
  renderMessage,
  StreamedMessage,
} from '@baton/anthropic';
import { Body, Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelCatalog } from '../../cluster/model-catalog';
import { ByTenant } from '../../http/access/tenant';
import { Describe, STREAMED } from '../../http/operation';
import type { Tenant } from '../../http/request-context';
import type { Answer } from '../../request/answer/answer';
import { StreamAnswer } from '../../request/answer/stream';
import { WholeAnswer } from '../../request/answer/whole';
import { type AnswerParts, type Ask, type Asked, callOf } from '../../request/take/call';
import { RequestWay } from '../../request/way';

/** Anthropic's way to ask for text: the same cluster, other shapes. */
@Controller('v1/messages')
export class MessagesController {
  constructor(
    private readonly generation: RequestWay,
    private readonly catalog: ModelCatalog,
  ) {}

  @Describe('Messages', "Answer a conversation in Anthropic's shape", {
    ...{ body: 'MessagesRequest', result: 'Message' },
    ...STREAMED,
  })
  @Post()
  create(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(callOf(askMessage, { body, request, reply }));
  }

  @Describe('Messages', 'Count the tokens of such a conversation', {
    ...{ body: 'CountTokensRequest', result: 'MessageTokens' },
  })
  @Post('count_tokens')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  countTokens(@ByTenant() tenant: Tenant, @Body() body: unknown): string {
    return countTokensBody(body, this.catalog.limitsOf(tenant));
  }
}

const askMessage: Ask = (body, limits): Asked => {
  const request = parseMessages(body, limits);
  return {
    request,
    answerId: (requestId) => messageId(limits.dialect, requestId),
    answer: (parts) => answerOf(request, parts),
  };
};

function answerOf(request: Asked['request'], { http, head, plans, options }: AnswerParts): Answer {
  const [plan] = plans;
  assert(plan, 'a message has one sequence');
  if (request.stream) {
    return new StreamAnswer(http, new StreamedMessage({ request, head, plan, options }));
  }
  return new WholeAnswer(http, plans, ([result], facts) => {
    assert(result, 'the sequence has ended');
    return renderMessage({ request, head, options }, result, facts);
  });
}
