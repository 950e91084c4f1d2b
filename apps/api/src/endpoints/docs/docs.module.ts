import { Module } from '@nestjs/common';
import { OpenApiController } from './openapi.controller';

/** The description of the API. */
@Module({ controllers: [OpenApiController] })
export class DocsModule {}
