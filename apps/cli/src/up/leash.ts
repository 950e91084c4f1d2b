/**
 * Loaded into every process that the supervisor starts, before its main module. The channel to the supervisor closes when that one dies,
 * however it dies; then nobody would ever stop this process, so it ends itself.
 */
const LAST_WORDS_MS = 2_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), LAST_WORDS_MS);
  process.kill(process.pid, 'SIGTERM');
});
process.channel?.unref();
