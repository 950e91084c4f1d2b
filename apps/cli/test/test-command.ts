import { vi } from 'vitest';
import { runProgram } from '../src/program';

export interface CommandAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process and collects its output. */
export async function runCommand(...args: string[]): Promise<CommandAnswer> {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  }
  const exitCode = await runProgram(args);
  vi.restoreAllMocks();
  return { exitCode, ...written };
}
