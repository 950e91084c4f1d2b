import { Body, Controller, Header, HttpCode, Post } from '@nestjs/common';
import { AdapterName, AdapterOrder } from '../../cluster/adapters/adapter';
import { AdapterRegistry } from '../../cluster/adapters/adapter-registry';
import { ByTenant } from '../../http/access/tenant';
import { BodyPipe } from '../../http/body.pipe';
import { Describe } from '../../http/operation';
import type { Tenant } from '../../http/request-context';

const TEXT = 'text/plain; charset=utf-8';

/**
 * vLLM's endpoints that change the LoRA adapters of a running server; served only with
 * `allow_runtime_lora_updating`.
 */
@Controller('v1')
export class AdaptersController {
  constructor(private readonly registry: AdapterRegistry) {}

  @Describe('Models', 'Load a LoRA adapter', {
    body: 'Object',
    answers: ['text'],
    example: { lora_name: 'relay', lora_path: '/adapters/relay' },
  })
  @Post('load_lora_adapter')
  @HttpCode(200)
  @Header('content-type', TEXT)
  async load(
    @ByTenant() owner: Tenant,
    @Body(BodyPipe) { lora_name: name, lora_path: path, load_inplace: inPlace }: AdapterOrder,
  ): Promise<string> {
    await this.registry.load(owner, { name, path }, inPlace ?? false);
    return `Success: LoRA adapter '${name}' added successfully.`;
  }

  @Describe('Models', 'Unload a LoRA adapter', {
    body: 'Object',
    answers: ['text'],
    example: { lora_name: 'relay' },
  })
  @Post('unload_lora_adapter')
  @HttpCode(200)
  @Header('content-type', TEXT)
  async unload(
    @ByTenant() owner: Tenant,
    @Body(BodyPipe) { lora_name: name }: AdapterName,
  ): Promise<string> {
    await this.registry.unload(owner, name);
    return `Success: LoRA adapter '${name}' removed successfully.`;
  }
}
