import { modelCard, modelList, modelNotFound, versionBody } from '@baton/openai';
import { Controller, Get, Header, Param } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Describe } from '../../http/operation';

/** What can be asked for. Model ids may contain slashes. */
@Controller()
export class ModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Describe('Models', 'List the models and adapters')
  @Get('v1/models')
  @Header('content-type', 'application/json')
  list(): string {
    return modelList(this.catalog.cards());
  }

  @Describe('Models', 'Read a model', { star: 'model' })
  @Get('v1/models/*')
  @Header('content-type', 'application/json')
  find(@Param('*') id: string): string {
    const card = this.catalog.find(id);
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
