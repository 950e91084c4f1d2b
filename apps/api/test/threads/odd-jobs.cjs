// The thread of the pool's specs.
const { threadId } = require('node:worker_threads');

const JOBS = {
  say: ({ value }) => value,
  thread: () => threadId,
  fail: ({ message }) => {
    throw new Error(message);
  },
  spin: () => {
    for (;;);
  },
  fill: () => {
    for (const kept = []; ;) kept.push({ text: `${kept.length}`.padStart(100) });
  },
  // Waits until the spec wakes it.
  hold: ({ cell }) => {
    Atomics.store(cell, 0, 1);
    Atomics.wait(cell, 1, 0);
    return 'held';
  },
};

module.exports = ({ task, begun }) => {
  begun[0] = 1;
  return JOBS[task.kind](task);
};
