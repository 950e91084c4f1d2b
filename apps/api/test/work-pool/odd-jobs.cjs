// The thread of the pool's specs: `serve-work.cjs` beside it is `serveWork`, compiled by the spec.
const { readFileSync } = require('node:fs');
const { threadId } = require('node:worker_threads');
const { serveWork } = require(`${__dirname}/serve-work.cjs`);

/** CPU time of this thread, ms (proc(5), ticks of 10 ms). */
function cpuMs() {
  const fields = readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const JOBS = {
  say: ({ value }) => value,
  thread: () => threadId,
  fail: ({ message }) => {
    throw new Error(message);
  },
  spin: () => {
    for (;;);
  },
  work: ({ ms }) => {
    for (const until = cpuMs() + ms; cpuMs() < until;);
    return 'worked';
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
