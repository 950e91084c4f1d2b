import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import './warm-up';

/**
 * Loaded into every process that the supervisor starts, before its main module. The channel to the
 * supervisor closes when the supervisor ends, for any reason. Then this process ends itself. A
 * thread does the same when the event loop is too busy for that.
 */
const DRAIN_MS = 2_000;
/** The thread starts after its process, because it would slow down the start. */
const THREAD_AFTER_MS = 1_000;
/** The heap of a thread without a task; with 4 MiB it ends for lack of memory. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), DRAIN_MS);
  process.kill(process.pid, 'SIGTERM');
});
process.channel?.unref();

setTimeout(() => {
  const options = { execArgv: [], resourceLimits: THREAD_MEMORY };
  const thread = new Worker(join(__dirname, 'parent-watch-thread.js'), options);
  thread.unref();
  thread.once('error', (error) => {
    process.emitWarning(`The thread of the leash has failed: ${error.message}`);
  });
}, THREAD_AFTER_MS).unref();
