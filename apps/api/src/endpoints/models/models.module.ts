import { Module } from '@nestjs/common';
import { ModelsController } from './models.controller';
import { ServerInfoController } from './server-info.controller';

/** The served models and the version of the server. */
@Module({ controllers: [ModelsController, ServerInfoController] })
export class ModelsModule {}
