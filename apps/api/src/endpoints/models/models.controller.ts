import { BatonError } from '@baton/contract';
import { modelCard, modelList, modelNotFound, versionBody } from '@baton/openai';
import { Controller, Delete, Get, Header, Param } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { ByTenant } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import type { Tenant } from '../../http/request-context';

/** The served models. Model ids may contain slashes. */
@Controller()
export class ModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Describe('Models', 'List the models and adapters', { result: 'ModelList' })
  @Get('v1/models')
  @Header('content-type', 'application/json')
  list(@ByTenant() tenant: Tenant): string {
    return modelList(this.catalog.cards(tenant));
  }

  @Describe('Models', 'Read a model', { star: 'model', result: 'Model' })
  @Get('v1/models/*')
  @Header('content-type', 'application/json')
  find(@Param('*') id: string, @ByTenant() tenant: Tenant): string {
    const card = this.catalog.find(id, tenant);
    if (!card) throw modelNotFound(id);
    return modelCard(card);
  }

  /** OpenAI deletes fine-tuned models of the caller; no caller owns a model served here. */
  @Describe('Models', 'Refuse to delete a model', {
    star: 'model',
    detail: 'A served model cannot be deleted.',
    refuses: [403],
  })
  @Delete('v1/models/*')
  remove(@Param('*') id: string, @ByTenant() tenant: Tenant): never {
    if (!this.catalog.find(id, tenant)) throw modelNotFound(id);
    throw new BatonError('model_not_deletable');
  }

  @Describe('Health and metrics', 'Show the version of the server', { result: 'Version' })
  @Get('version')
  @Header('content-type', 'application/json')
  version(): string {
    return versionBody(this.catalog.version);
  }
}
