import { runProgram } from './program';

// A reader may have seen enough, as `head` does: no reason to fail. Any other failure ends it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `baton: The output cannot be written (${error.message}): free some space.\n`,
  );
  process.exit(1);
});

void runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
