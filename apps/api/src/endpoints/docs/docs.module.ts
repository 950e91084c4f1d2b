import { Module } from '@nestjs/common';
import { OpenApiController } from './openapi.controller';

/** What the server serves, described. */
@Module({ controllers: [OpenApiController] })
export class DocsModule {}
