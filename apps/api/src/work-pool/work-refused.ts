/**
 * Why a task has no result. `busy`: the queue is full, or the wait was too long. `too-complex`: the
 * task took more time or memory than one task may. `left`: its result is no longer awaited.
 */
export type WorkRefusal = 'busy' | 'too-complex' | 'left';

export class WorkRefused extends Error {
  constructor(readonly reason: WorkRefusal) {
    super(`the work was refused: ${reason}`);
    this.name = 'WorkRefused';
  }
}
