import { watchOutput } from './lost-output';
import { runProgram } from './program';

watchOutput();

void runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
  // After a refused connection ioredis keeps its timers, which would hold the process for seconds.
  if (exitCode !== 0) process.exit();
});
