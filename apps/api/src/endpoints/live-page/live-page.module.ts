import { Module } from '@nestjs/common';
import { UiController } from './ui.controller';

/** The page that shows the cluster at work. */
@Module({ controllers: [UiController] })
export class LivePageModule {}
