import type { IncomingMessage } from 'node:http';
import { withoutSecrets } from '@baton/config';
import { BatonError } from '@baton/contract';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClusterView } from '../../cluster/cluster-view';
import { ModelCatalog } from '../../cluster/model-catalog';
import { AdminGuard } from '../../http/access/admin.guard';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { Config } from '../../tokens';

/**
 * Facts that routers read from an engine before they send it requests: SGLang's server info, and
 * TensorRT-LLM's, which has `disaggregated_params`.
 */
@Controller()
export class ServerInfoController {
  constructor(
    private readonly config: Config,
    private readonly cluster: ClusterView,
    private readonly catalog: ModelCatalog,
    private readonly admin: AdminGuard,
  ) {}

  /**
   * At the port of the cluster this is the endpoint of vLLM's development mode: the configuration
   * without fields that can hold a password.
   */
  @Describe('Health and metrics', 'Describe an engine to a router', {
    detail:
      "At an engine's port it has the facts that routers of SGLang and TensorRT-LLM read. At the " +
      "cluster's port it has the configuration, in development mode.",
    refuses: [404],
  })
  @Get('server_info')
  serverInfo(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): object {
    const { engineId } = contextOf(request.raw);
    if (engineId !== undefined) return this.shownOf(engineId, request.raw);
    if (!this.config.enableDevMode) throw new BatonError('not_found');
    this.admin.admit(request, reply);
    return { vllm_config: withoutSecrets(this.config) };
  }

  @Describe('Health and metrics', 'Describe an engine to an older router of SGLang', {
    refuses: [404],
  })
  @Get('get_server_info')
  olderServerInfo(@Req() { raw }: FastifyRequest): object {
    const { engineId } = contextOf(raw);
    if (engineId === undefined) throw new BatonError('not_found');
    return this.shownOf(engineId, raw);
  }

  @Describe('Health and metrics', "Describe the served model in SGLang's shape", {
    result: 'ModelInfo',
  })
  @Get('model_info')
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

  @Describe('Health and metrics', 'Describe the served model to an older router of SGLang', {
    result: 'ModelInfo',
  })
  @Get('get_model_info')
  olderModelInfo(): object {
    return this.modelInfo();
  }

  /** The configuration is for operators only; routers send no key. */
  private shownOf(engineId: string, message: IncomingMessage): object {
    const showsConfig = this.config.enableDevMode && this.admin.admits(message);
    return {
      ...(showsConfig ? { vllm_config: withoutSecrets(this.config) } : {}),
      ...this.engineInfo(engineId),
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
    const [card] = this.catalog.cards(undefined);
    return card ?? { id: this.config.model };
  }
}
