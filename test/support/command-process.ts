import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A command from another project's file, run to its end or until it is stopped. */
export class CommandProcess {
  private output = '';
  readonly ended: Promise<number | string>;

  private constructor(private readonly child: ChildProcess) {
    const collect = (chunk: Buffer): void => {
      this.output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
    });
  }

  static start(command: readonly string[], options: CommandOptions = {}): CommandProcess {
    const [program = '', ...args] = command;
    const env = { ...process.env, ...options.env };
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    return new CommandProcess(
      spawn(program, args, { cwd: options.cwd ?? ROOT, env, stdio: [...stdio] }),
    );
  }

  /** Its output so far. */
  get log(): string {
    return this.output;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
  }
}
