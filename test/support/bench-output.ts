import { execFile } from 'node:child_process';

/** Exit codes of a load that was sent to its end; 3 says that it was sent late. */
const COMPLETE = [0, 3];

/**
 * Runs a command that sends a load and returns its stdout. A void run is complete: the tests that
 * need punctual ones look at `load_generator.void`.
 *
 * @throws the error of the process for any other exit code
 */
export function benchOutput(
  [program, ...args]: readonly [string, ...string[]],
  options: { readonly cwd?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...options, maxBuffer: 2 ** 26 }, (error, stdout) => {
      if (error === null || COMPLETE.includes(Number(error.code))) resolve(stdout);
      else reject(error);
    });
  });
}
