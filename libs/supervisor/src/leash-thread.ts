import { workerData } from 'node:worker_threads';

/** The thread of the leash: it polls for the parent, because no event reaches a thread. */
const WATCH_EVERY_MS = 1_500;
/** A process with a free event loop ends in order within this time of its supervisor's death. */
const LAST_WORDS_MS = 3_000;

const watch = setInterval(() => {
  if (process.ppid === workerData) return;
  clearInterval(watch);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), LAST_WORDS_MS);
}, WATCH_EVERY_MS);
