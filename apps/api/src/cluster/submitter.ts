import type { EngineJob } from '@baton/contract';
import type { QueueName } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { brokerError } from '../http/broker-error';
import { Broker } from '../tokens';
import { TurnBatch } from './turn-batch';

/** Puts jobs into queues. Jobs of one event-loop turn for one queue take one round trip. */
@Injectable()
export class Submitter {
  private readonly batches = new Map<QueueName, TurnBatch<readonly EngineJob[]>>();

  constructor(private readonly transport: Broker) {}

  /**
   * Resolves when the broker has the jobs.
   *
   * @throws BatonError `broker_unavailable`, `broker_out_of_memory`
   */
  async submit(queue: QueueName, jobs: readonly EngineJob[]): Promise<void> {
    try {
      await this.openBatch(queue).add(jobs);
    } catch (error) {
      throw brokerError(error);
    }
  }

  private openBatch(queue: QueueName): TurnBatch<readonly EngineJob[]> {
    const known = this.batches.get(queue);
    if (known) return known;
    const batch = new TurnBatch<readonly EngineJob[]>(async (groups) => {
      this.batches.delete(queue);
      await this.transport.jobs.add(queue, groups.flat());
      return groups.map(() => true);
    });
    this.batches.set(queue, batch);
    return batch;
  }
}
