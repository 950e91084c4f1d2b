import { runProgram } from './program';

// A reader may stop early, like `head`; this is not a failure. Any other failure ends the program.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `baton: The output cannot be written (${error.message}). Free some space.\n`,
  );
  process.exit(1);
});

void runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
