import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { budgetWorkload } from './generate/budget-workload';
import { shareWorkload } from './share';

describe('shareWorkload', () => {
  it('is the same workload, and shares its bytes with a worker thread', async () => {
    const workload = budgetWorkload({ ratePerSecond: 10, count: 100 });
    const shared = shareWorkload(workload);
    expect(shared).toEqual(workload);
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      const sum = workerData.contentIds.reduce((a, b) => a + b, 0);
      workerData.arrivalUs[0] = -1;
      parentPort.postMessage([workerData.count, sum]);`;
    const worker = new Worker(script, { eval: true, workerData: shared });
    const [seen] = (await once(worker, 'message')) as [number[]];
    await worker.terminate();
    expect(seen).toEqual([100, workload.contentIds.reduce((a, b) => a + b, 0)]);
    expect(shared.arrivalUs[0]).toBe(-1);
    expect(workload.arrivalUs[0]).not.toBe(-1);
  });
});
