import { BatonError } from '@baton/contract';
import { modelCard, modelList, modelNotFound, versionBody } from '@baton/openai';
import { Controller, Delete, Get, Header, Param } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { Describe } from '../../http/operation';

/** What can be asked for. Model ids may contain slashes. */
@Controller()
export class ModelsController {
  constructor(private readonly catalog: ModelCatalog) {}

  @Describe('Models', 'List the models and adapters', { result: 'ModelList' })
  @Get('v1/models')
  @Header('content-type', 'application/json')
  list(): string {
    return modelList(this.catalog.cards());
  }

  @Describe('Models', 'Read a model', { star: 'model', result: 'Model' })
  @Get('v1/models/*')
  @Header('content-type', 'application/json')
  find(@Param('*') id: string): string {
    const card = this.catalog.find(id);
    if (!card) throw modelNotFound(id);
    return modelCard(card);
  }

  /** OpenAI deletes fine-tuned models of the caller; what is served here is nobody's to delete. */
  @Describe('Models', 'Refuse to delete a model: what is served cannot be deleted', {
    star: 'model',
  })
  @Delete('v1/models/*')
  remove(@Param('*') id: string): never {
    if (!this.catalog.find(id)) throw modelNotFound(id);
    throw new BatonError('model_not_deletable');
  }

  @Describe('Health and metrics', 'Version of the server', { result: 'Version' })
  @Get('version')
  @Header('content-type', 'application/json')
  version(): string {
    return versionBody(this.catalog.version);
  }
}
