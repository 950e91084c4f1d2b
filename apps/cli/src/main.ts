import { watchOutput } from './lost-output';
import { runProgram } from './program';

watchOutput();

void runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
