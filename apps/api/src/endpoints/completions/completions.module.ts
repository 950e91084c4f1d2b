import { Module } from '@nestjs/common';
import { CompletionsController } from './completions.controller';

/** Continuations of prompts. */
@Module({ controllers: [CompletionsController] })
export class CompletionsModule {}
