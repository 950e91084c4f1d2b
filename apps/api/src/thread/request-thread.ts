import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { openTextParts } from '../request/plan/text-setup';
import type { ThreadData, ThreadTask } from '../request/threads/messages';
import type { PooledTask } from '../request/threads/thread-pool';
import { RequestReader } from './request-reader';

/** A thread of the API: reads, plans and answers requests that would hold the event loop. */
async function openThread(): Promise<(pooled: PooledTask) => unknown> {
  const data = workerData as ThreadData;
  const reader = new RequestReader(data, await openTextParts(data.config, data.datasetTokens));
  return ({ task, begun }) => {
    begun[0] = 1;
    const { value, transfer } = reader.perform(task as ThreadTask);
    if (transfer === undefined) return value;
    return move({ [transferableSymbol]: transfer, [valueSymbol]: value } as never);
  };
}

export default openThread();
