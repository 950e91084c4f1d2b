import { Module } from '@nestjs/common';
import { RequestModule } from '../../request/request.module';
import { CompletionsController } from './completions.controller';

/** Text completions. */
@Module({ imports: [RequestModule], controllers: [CompletionsController] })
export class CompletionsModule {}
