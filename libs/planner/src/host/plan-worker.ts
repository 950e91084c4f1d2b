import { parentPort, workerData } from 'node:worker_threads';
import { performAny, type PoolTask } from '../search/perform-any';
import type { PlanningContext } from '../search/planning-context';

// A thread of `baton plan`: performs one task after another and posts each result.
const context = workerData as PlanningContext;
parentPort?.on('message', (task: PoolTask) => {
  parentPort?.postMessage(performAny(context, task));
});
