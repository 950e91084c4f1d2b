import { runProgram } from './program';

// Whoever reads the output may have seen enough, as `head` does: no reason to fail.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
