import { execFile } from 'node:child_process';

export interface CommandOptions {
  readonly deadlineMs: number;
  readonly environment?: NodeJS.ProcessEnv;
  readonly directory?: string;
}

export type CommandOutcome =
  | { readonly kind: 'done'; readonly output: string }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Runs a program to its end, or kills it at the deadline. A failure is an outcome: there is always
 * another step to try.
 */
export function runCommand(
  program: string,
  args: readonly string[],
  { deadlineMs, environment = process.env, directory }: CommandOptions,
): Promise<CommandOutcome> {
  const options = {
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
    env: environment,
    maxBuffer: 16 * 1024 * 1024,
    ...(directory === undefined ? {} : { cwd: directory }),
  } as const;
  return new Promise<CommandOutcome>((resolve) => {
    execFile(program, args, options, (error, output, complaints) => {
      if (error === null) resolve({ kind: 'done', output });
      else if (error.killed === true)
        resolve({ kind: 'failed', why: `no end within ${deadlineMs} ms` });
      else
        resolve({
          kind: 'failed',
          why: reasonIn(complaints) ?? reasonIn(error.message) ?? 'failed',
        });
    });
    // Some failures of a start are thrown synchronously, such as a file in the place of a folder.
  }).catch((error: Error) => ({ kind: 'failed', why: error.message }));
}

/** The first error of apt, which names the cause; the last line of another program. */
function reasonIn(text: string): string | undefined {
  const lines = text.trim().split('\n');
  return (lines.find((line) => line.startsWith('E: ')) ?? lines.at(-1))?.trim() || undefined;
}
