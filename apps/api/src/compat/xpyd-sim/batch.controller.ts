import type { BatchEntry, BatchView, Stage } from '@baton/contract';
import { Controller, Get } from '@nestjs/common';
import { Describe } from '../../http/operation';
import { brokerError } from '../../http/broker-error';
import { Broker } from '../../tokens';
import { Operator } from '../../endpoints/dev/operator';

/**
 * The fields that xPyD-sim shows for its one engine, summed over all engines, and then each engine
 * by itself.
 */
export interface ClusterBatch {
  /**
   * Sequences that wait for the stage, as admission counts them: until their first step has ended.
   */
  readonly prefill_queue_depth: number;
  readonly decode_queue_depth: number;
  /** Sequences whose prompt is being computed, and the tokens of those prompts. */
  readonly prefill_batch_size: number;
  readonly prefill_batch_tokens: number;
  readonly decode_batch_size: number;
  readonly decode_avg_context_length: number;
  readonly decode_requests: readonly Pick<
    BatchEntry,
    'id' | 'input_tokens' | 'generated_tokens' | 'context_length'
  >[];
  readonly engines: readonly BatchView[];
}

/** The batches of all engines at this moment. Served with `enable_dev_mode` or `enable_admin`. */
@Controller('debug')
export class BatchController {
  constructor(
    private readonly transport: Broker,
    private readonly operator: Operator,
  ) {}

  @Describe('Development mode', 'Show the current batches of the engines', { result: 'Batch' })
  @Get('batch')
  async batch(): Promise<ClusterBatch> {
    try {
      return clusterBatch(await this.operator.batches(), await this.transport.admission.totals());
    } catch (error) {
      throw brokerError(error);
    }
  }
}

function clusterBatch(
  engines: readonly BatchView[],
  queued: Readonly<Record<Stage, number>>,
): ClusterBatch {
  const all = engines.flatMap(({ requests }) => requests);
  const prefill = all.filter(({ phase }) => phase === 'prefill');
  const decode = all.filter(({ phase }) => phase === 'decode');
  const sum = (of: readonly BatchEntry[], value: (entry: BatchEntry) => number): number =>
    of.reduce((total, entry) => total + value(entry), 0);
  return {
    prefill_queue_depth: queued.prefill + queued.aggregated,
    decode_queue_depth: queued.decode,
    prefill_batch_size: prefill.length,
    prefill_batch_tokens: sum(prefill, (entry) => entry.input_tokens),
    decode_batch_size: decode.length,
    decode_avg_context_length:
      decode.length === 0 ? 0 : sum(decode, (entry) => entry.context_length) / decode.length,
    decode_requests: decode.map(({ id, input_tokens, generated_tokens, context_length }) => {
      return { id, input_tokens, generated_tokens, context_length };
    }),
    engines,
  };
}
