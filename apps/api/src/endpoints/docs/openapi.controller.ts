import { Controller, Get, Header } from '@nestjs/common';
import { KnownRoutes } from '../../http/known-routes';
import { Describe } from '../../http/operation';
import { Config } from '../../tokens';
import { docsPage } from './docs-page';
import { type OpenApiDocument, openApiDocument } from './openapi-document';

/** The page has no scripts and loads nothing; its style is inline. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The description of the API, for programs and for readers. */
@Controller()
export class OpenApiController {
  constructor(
    private readonly routes: KnownRoutes,
    private readonly config: Config,
  ) {}

  @Describe('Pages', 'Show the OpenAPI document')
  @Get('openapi.json')
  document(): OpenApiDocument {
    return openApiDocument(this.routes.list(), this.config);
  }

  @Describe('Pages', 'Show the API as a page', { answers: ['html'] })
  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  page(): string {
    return docsPage(this.document());
  }
}
