import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UsageError } from '@baton/config';
import { HardwareError } from '@baton/hardware';
import { Failure } from '@baton/kernel';
import { PolicyError } from '@baton/policies';
import type { PlanTask, TaskResult } from '../candidates/plan-task';

import { perform } from '../search/perform';
import type { PlanningContext } from '../search/planning-context';

/**
 * Performs tasks and returns their results in the order of the tasks, independent of the thread and
 * the time of each.
 */
export interface TaskPool {
  run(tasks: readonly PlanTask[], onDone: (done: number) => void): Promise<TaskResult[]>;
  close(): Promise<void>;
}

export function openTaskPool(context: PlanningContext, threads: number): TaskPool {
  return threads === 1 ? new OneThread(context) : new Threads(context, threads);
}

/** Opens a pool of other threads only, so that the calling thread stays free. */
export function openThreads(context: PlanningContext, threads: number): TaskPool {
  return new Threads(context, threads);
}

/** The calling thread. */
class OneThread implements TaskPool {
  constructor(private readonly context: PlanningContext) {}

  async run(tasks: readonly PlanTask[], onDone: (done: number) => void): Promise<TaskResult[]> {
    return Promise.resolve(
      tasks.map((task, i) => {
        const measured = this.perform(task);
        onDone(i + 1);
        return measured;
      }),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** A run that is refused fails the plan, as in another thread. */
  private perform(task: PlanTask): TaskResult {
    try {
      return perform(this.context, task);
    } catch (error) {
      const refusals = [UsageError, HardwareError, PolicyError];
      const isRefused = refusals.some((refusal) => error instanceof refusal);
      throw error instanceof Error && isRefused ? new Failure(error.message) : error;
    }
  }
}

/**
 * Other threads, started on demand. Each has one task at a time. The workload lies in shared
 * memory.
 */
class Threads implements TaskPool {
  private readonly workers: Worker[] = [];

  constructor(
    private readonly context: PlanningContext,
    private readonly most: number,
  ) {}

  async run(tasks: readonly PlanTask[], onDone: (done: number) => void): Promise<TaskResult[]> {
    while (this.workers.length < Math.min(this.most, tasks.length)) this.workers.push(this.start());
    const results: TaskResult[] = [];
    let next = 0;
    let done = 0;
    const work = async (worker: Worker): Promise<void> => {
      while (next < tasks.length) {
        const index = next++;
        results[index] = await waitForAnswer(worker, tasks[index]!);
        onDone(++done);
      }
    };
    await Promise.all(this.workers.map(work));
    return results;
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.terminate()));
  }

  private start(): Worker {
    const worker = new Worker(join(__dirname, 'plan-worker.js'), { workerData: this.context });
    worker.setMaxListeners(0);
    return worker;
  }
}

function waitForAnswer(worker: Worker, task: PlanTask): Promise<TaskResult> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onMessage = (measured: TaskResult): void => settle(() => resolve(measured));
    const onError = (error: Error): void => settle(() => reject(new Failure(error.message)));
    const onExit = (): void => settle(() => reject(new Failure('A thread of the plan ended.')));
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(task);
  });
}
