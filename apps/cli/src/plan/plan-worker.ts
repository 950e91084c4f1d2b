import { parentPort, workerData } from 'node:worker_threads';
import { type PlanningContext, performTask, type PlanTask } from './task';

// A thread of `baton plan`: takes one task after the other and answers each.
const context = workerData as PlanningContext;
parentPort?.on('message', (task: PlanTask) => {
  parentPort?.postMessage(performTask(context, task));
});
