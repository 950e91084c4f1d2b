import { tokenizerInfoBody } from '@baton/token-api';
import { Body, Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Describe } from '../../http/operation';
import { RequestThreads } from '../../request/threads/request-threads';

/**
 * The tokenizer of the served model, for clients that count or cut prompts. Nothing of it goes to
 * an engine.
 */
@Controller()
export class TokenizeController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly threads: RequestThreads,
  ) {}

  @Describe('Tokens', 'Token ids of a text', { body: 'TokenizeRequest' })
  @Post('tokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  tokenize(@Body() body: unknown): Promise<string | Uint8Array> {
    return this.threads.answer('tokenize', { body, limits: this.catalog.limits });
  }

  @Describe('Tokens', 'Text of token ids', { body: 'DetokenizeRequest' })
  @Post('detokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  detokenize(@Body() body: unknown): Promise<string | Uint8Array> {
    return this.threads.answer('detokenize', { body, limits: this.catalog.limits });
  }

  @Describe('Tokens', 'Which tokenizer counts')
  @Get('tokenizer_info')
  @Header('content-type', 'application/json')
  info(): string {
    return tokenizerInfoBody(this.catalog.limits);
  }
}
