import { Module } from '@nestjs/common';
import { CompletionsController } from './completions.controller';

/** Text completions. */
@Module({ controllers: [CompletionsController] })
export class CompletionsModule {}
