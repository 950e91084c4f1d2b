import { detokenizeBody, tokenizeBody, tokenizerInfoBody } from '@baton/openai';
import { Body, Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';

/** The tokenizer of the served model, for clients that count or cut prompts. Nothing of it goes to an engine. */
@Controller()
export class TokenizeController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Post('tokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  tokenize(@Body() body: unknown): string {
    return tokenizeBody(body, this.catalog.limits);
  }

  @Post('detokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  detokenize(@Body() body: unknown): string {
    return detokenizeBody(body, this.catalog.limits);
  }

  @Get('tokenizer_info')
  @Header('content-type', 'application/json')
  info(): string {
    return tokenizerInfoBody(this.catalog.limits);
  }
}
