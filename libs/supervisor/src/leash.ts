/**
 * Loaded into every process that the supervisor starts, before its main module. The channel to the
 * supervisor closes when the supervisor dies, however it dies. Then this process ends itself. The
 * standby thread of the transport ends a process whose event loop is too busy for that.
 */
const LAST_WORDS_MS = 2_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), LAST_WORDS_MS);
  process.kill(process.pid, 'SIGTERM');
});
process.channel?.unref();
