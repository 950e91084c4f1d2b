import { DetokenizeRequest, TokenizeRequest, tokenizerInfoBody } from '@baton/openai';
import { Body, Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { ByTenant } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import type { Tenant } from '../../http/request-context';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { RequestThreads } from '../../request/threads/request-threads';

/**
 * The tokenizer of the served model, for clients that count or cut prompts. No engine takes part.
 */
@Controller()
export class TokenizeController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly threads: RequestThreads,
  ) {}

  @Describe('Tokens', 'Turn a text into token ids', { body: 'TokenizeRequest', result: 'Tokens' })
  @Post('tokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  tokenize(
    @ByTenant() tenant: Tenant,
    @Body(EngineBodyPipe) body: TokenizeRequest,
  ): Promise<string | Uint8Array> {
    return this.threads.answer('tokenize', { body, limits: this.catalog.limitsOf(tenant) });
  }

  @Describe('Tokens', 'Turn token ids into a text', { body: 'DetokenizeRequest', result: 'Text' })
  @Post('detokenize')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  detokenize(
    @ByTenant() tenant: Tenant,
    @Body(EngineBodyPipe) body: DetokenizeRequest,
  ): Promise<string | Uint8Array> {
    return this.threads.answer('detokenize', { body, limits: this.catalog.limitsOf(tenant) });
  }

  @Describe('Tokens', 'Describe the tokenizer', { result: 'TokenizerInfo' })
  @Get('tokenizer_info')
  @Header('content-type', 'application/json')
  info(@ByTenant() tenant: Tenant): string {
    return tokenizerInfoBody(this.catalog.limitsOf(tenant));
  }
}
