import { Module } from '@nestjs/common';
import { UiController } from './ui.controller';

/** The live page of the cluster. */
@Module({ controllers: [UiController] })
export class LivePageModule {}
