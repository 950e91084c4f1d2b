import { parentPort, workerData } from 'node:worker_threads';
import type { PlanTask } from '../candidates/plan-task';
import { perform } from '../search/perform';
import type { PlanningContext } from '../search/planning-context';

// A thread of `baton plan`: performs one task after another and posts each result.
const context = workerData as PlanningContext;
parentPort?.on('message', (task: PlanTask) => {
  parentPort?.postMessage(perform(context, task));
});
