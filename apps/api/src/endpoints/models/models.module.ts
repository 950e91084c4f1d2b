import { Module } from '@nestjs/common';
import { ModelsController } from './models.controller';
import { ServerInfoController } from './server-info.controller';

/** What is served, and by which version. */
@Module({ controllers: [ModelsController, ServerInfoController] })
export class ModelsModule {}
