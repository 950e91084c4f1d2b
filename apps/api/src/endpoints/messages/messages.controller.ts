import { CountTokensRequest, MessagesRequest } from '@baton/openai';
import { Body, Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelCatalog } from '../../cluster/model-catalog';
import { ByTenant } from '../../http/access/tenant';
import { Describe, STREAMED } from '../../http/operation';
import type { Tenant } from '../../http/request-context';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { makeCall } from '../../request/take/call';
import { RequestThreads } from '../../request/threads/request-threads';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';
import { messageReader } from './message-reader';

/** Anthropic's Messages API: the same cluster, other shapes. */
@Controller('v1/messages')
export class MessagesController {
  constructor(
    private readonly generation: RequestWay,
    private readonly catalog: ModelCatalog,
    private readonly threads: RequestThreads,
  ) {}

  @Describe('Messages', "Answer a conversation in Anthropic's shape", {
    body: 'MessagesRequest',
    result: 'Message',
    ...STREAMED,
  })
  @Post()
  @ServedByEngines()
  create(
    @Body(EngineBodyPipe) body: MessagesRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.generation.answer(makeCall(messageReader, { body, request, reply }));
  }

  @Describe('Messages', "Count the tokens of a conversation in Anthropic's shape", {
    body: 'CountTokensRequest',
    result: 'MessageTokens',
  })
  @Post('count_tokens')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  countTokens(
    @ByTenant() tenant: Tenant,
    @Body(EngineBodyPipe) body: CountTokensRequest,
  ): Promise<string | Uint8Array> {
    return this.threads.answer('count-tokens', { body, limits: this.catalog.limitsOf(tenant) });
  }
}
