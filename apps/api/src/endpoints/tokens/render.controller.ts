import { answerId, type RequestLimits } from '@baton/openai';
import {
  derenderChatBody,
  derenderCompletionBody,
  renderChatBody,
  renderCompletionBody,
} from '@baton/token-api';
import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ModelCatalog } from '../../cluster/model-catalog';
import { tenantOf } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';

const JSON_TYPE = 'application/json';

/**
 * The two ends of a request apart from its generation: texts into token ids, and token ids into an
 * answer. No engine takes part.
 */
@Controller('v1')
export class RenderController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Describe('Text', 'Tokens of a conversation, without an answer', {
    body: 'ChatCompletionRequest',
  })
  @Post('chat/completions/render')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  renderChat(@Body() body: unknown, @Req() request: FastifyRequest): string {
    return renderChatBody(body, this.limitsFor(request), answerId('chat', idOf(request)));
  }

  @Describe('Text', 'Tokens of prompts, without an answer', { body: 'CompletionRequest' })
  @Post('completions/render')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  renderCompletion(@Body() body: unknown, @Req() request: FastifyRequest): string {
    return renderCompletionBody(
      body,
      this.limitsFor(request),
      answerId('completions', idOf(request)),
    );
  }

  @Describe('Text', 'A chat answer made of tokens', { body: 'DerenderChatRequest' })
  @Post('chat/completions/derender')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  derenderChat(@Body() body: unknown, @Req() request: FastifyRequest): string {
    return derenderChatBody(
      body,
      this.limitsFor(request),
      this.head(answerId('chat', idOf(request))),
    );
  }

  @Describe('Text', 'A completion made of tokens', { body: 'DerenderCompletionRequest' })
  @Post('completions/derender')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  derenderCompletion(@Body() body: unknown, @Req() request: FastifyRequest): string {
    const head = this.head(answerId('completions', idOf(request)));
    return derenderCompletionBody(body, this.limitsFor(request), head);
  }

  private limitsFor(request: FastifyRequest): RequestLimits {
    return this.catalog.limitsOf(tenantOf(request));
  }

  private head(id: string): { id: string; created: number; systemFingerprint: string } {
    const { systemFingerprint } = this.catalog;
    return { id, created: Math.floor(Date.now() / 1_000), systemFingerprint };
  }
}

function idOf(request: FastifyRequest): string {
  return contextOf(request.raw).requestId;
}
