// The thread of the pool's specs: `serve-work.cjs` beside it is `serveWork`, compiled by the spec.
const { threadId } = require('node:worker_threads');
const { serveWork } = require(`${__dirname}/serve-work.cjs`);

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
  // Waits without CPU time until the spec wakes it.
  hold: ({ cell }) => {
    Atomics.store(cell, 0, 1);
    Atomics.wait(cell, 1, 0);
    return 'held';
  },
};

serveWork((job) => ({ value: JOBS[job.kind](job) }));
