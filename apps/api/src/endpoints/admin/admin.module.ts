import { Module } from '@nestjs/common';
import { EnginesController } from './engines.controller';
import { SettingsController } from './settings.controller';

/** Orders that change the cluster while it runs. */
@Module({ controllers: [EnginesController, SettingsController] })
export class AdminModule {}
