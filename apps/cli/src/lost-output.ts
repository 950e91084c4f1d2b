/**
 * Decides what follows when stdout or stderr cannot be written, for every command: a lost result
 * ends the program, but a reader may stop early, like `head`. A lost sentence on stderr ends
 * nothing.
 */
export function watchOutput(): void {
  process.stdout.on('error', endOnLostResult);
  process.stderr.on('error', ignore);
}

/** For a command without a result: stdout has only lines for its user. */
export function outliveLostLines(): void {
  process.stdout.off('error', endOnLostResult);
  // Once, however many commands one process runs.
  process.stdout.off('error', ignore).on('error', ignore);
}

function endOnLostResult(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `baton: The output cannot be written (${error.message}). Free some space.\n`,
  );
  process.exit(1);
}

function ignore(): void {
  // The writer of the line counts it, if anything does.
}
