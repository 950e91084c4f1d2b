import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { HttpModule } from '../../http/http.module';
import { RequestModule } from '../../request/request.module';
import { EnginesController } from './engines.controller';
import { SettingsController } from './settings.controller';

/** Orders that change the cluster while it runs. */
@Module({
  imports: [ClusterModule, HttpModule, RequestModule],
  controllers: [EnginesController, SettingsController],
})
export class AdminModule {}
