import { parentPort, workerData } from 'node:worker_threads';
import type { PlanTask } from '@baton/planner';
import { performIn, type PlanningContext } from './planning-context';

// A thread of `baton plan`: takes one task after the other and answers each.
const context = workerData as PlanningContext;
parentPort?.on('message', (task: PlanTask) => {
  parentPort?.postMessage(performIn(context, task));
});
