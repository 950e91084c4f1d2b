import { Module } from '@nestjs/common';
import { AdaptersController } from './adapters.controller';

/** The LoRA adapters of a running server. */
@Module({ controllers: [AdaptersController] })
export class AdaptersModule {}
