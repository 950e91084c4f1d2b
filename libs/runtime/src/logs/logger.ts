import { pino, type Logger } from 'pino';

export interface LoggerOptions {
  /** Role of the process, on every line: `api`, `prefill-0`. */
  readonly name: string;
  readonly level: string;
}

/** A JSON logger on stderr: stdout belongs to results. Writes are synchronous, so that a crash loses no line. */
export function createLogger({ name, level }: LoggerOptions): Logger {
  return pino(
    { name, level, base: { name, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
}

export type { Logger };
