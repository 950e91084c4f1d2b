import { modelCard, modelList, modelNotFound, versionBody } from '@baton/openai';
import { Controller, Get, Header, Param } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { ByTenant } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import type { Tenant } from '../../http/request-context';

/** What can be asked for. Model ids may contain slashes. */
@Controller()
export class ModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Describe('Models', 'List the models and adapters')
  @Get('v1/models')
  @Header('content-type', 'application/json')
  list(@ByTenant() tenant: Tenant): string {
    return modelList(this.catalog.cards(tenant));
  }

  @Describe('Models', 'Read a model', { star: 'model' })
  @Get('v1/models/*')
  @Header('content-type', 'application/json')
  find(@Param('*') id: string, @ByTenant() tenant: Tenant): string {
    const card = this.catalog.find(id, tenant);
    if (!card) throw modelNotFound(id);
    return modelCard(card);
  }

  @Describe('Health and metrics', 'Version of the server')
  @Get('version')
  @Header('content-type', 'application/json')
  version(): string {
    return versionBody(this.catalog.version);
  }
}
