import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { HealthModule } from '../../endpoints/health/health.module';
import { HttpModule } from '../../http/http.module';
import { RequestModule } from '../../request/request.module';
import { LegForms } from '../../routers/leg-forms';
import { RoutersModule } from '../../routers/routers.module';
import { SglangGenerateController } from './generate.controller';
import { HealthGenerateController } from './health.controller';
import { ServerInfoController } from './server-info.controller';

/** SGLang's native API, what its routers read, and their legs. */
@Module({
  imports: [ClusterModule, HealthModule, HttpModule, RequestModule, RoutersModule],
  controllers: [SglangGenerateController, HealthGenerateController, ServerInfoController],
})
export class SglangModule {
  constructor(forms: LegForms) {
    forms.add({ sign: { field: 'bootstrap_room' }, load: () => import('./leg') });
  }
}
