import { type BatonConfig, withoutSecrets } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { contextOf } from '../../http/request-context';
import { CONFIG } from '../../tokens';

/** What routers ask an engine about itself before they send it anything: SGLang's, and TensorRT-LLM's, which reads `disaggregated_params` from it. */
@Controller()
export class ServerInfoController {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly cluster: ClusterView,
    private readonly catalog: ModelCatalog,
  ) {}

  /** At the port of the cluster it is vLLM's, of development mode: the configuration, without what may hold a password. */
  @Get(['server_info', 'get_server_info'])
  serverInfo(@Req() request: FastifyRequest): object {
    const { engineId } = contextOf(request.raw);
    const vllm = this.config.enableDevMode ? { vllm_config: withoutSecrets(this.config) } : {};
    if (engineId !== undefined) return { ...vllm, ...this.engineInfo(engineId) };
    const isOlder = request.url.startsWith('/get_');
    if (isOlder || !this.config.enableDevMode) throw new BatonError('not_found');
    return vllm;
  }

  @Get(['model_info', 'get_model_info'])
  modelInfo(): object {
    const { id } = this.card();
    return {
      model_path: id,
      tokenizer_path: id,
      is_generation: true,
      weight_version: 'default',
      max_context_length: this.catalog.maxModelLen,
    };
  }

  private engineInfo(engineId: string): object {
    const engine = this.cluster.find(engineId);
    if (engine === undefined) throw new BatonError('not_found');
    const { stage, gauges } = engine;
    const { blockSize } = this.config;
    const { id } = this.card();
    const ranks = engine.dataParallel?.size ?? 1;
    return {
      model_path: id,
      served_model_name: id,
      disaggregation_mode: stage === 'aggregated' ? 'null' : stage,
      version: this.catalog.version,
      dp_size: ranks,
      max_total_num_tokens: gauges.numBlocks * blockSize,
      tokens_per_block: blockSize,
      internal_states: Array.from({ length: ranks }, () => ({ last_gen_throughput: 0 })),
      disaggregated_params: {},
    };
  }

  private card(): { readonly id: string } {
    const [card] = this.catalog.cards();
    return card ?? { id: this.config.model };
  }
}
