import type { BatonConfig } from '@baton/config';
import { pino, type Logger } from 'pino';
import { LogSink } from './log-sink';

export interface LoggerOptions {
  /** Role of the process, on every line: `api`, `prefill-0`. */
  readonly name: string;
  readonly level: string;
  /** Levels of single modules, each as `module=level`. */
  readonly levels?: readonly string[];
}

const levelsOf = new WeakMap<Logger, ReadonlyMap<string, string>>();

/** A JSON logger on stderr: stdout belongs to results. A lost line ends nothing (`LogSink`). */
export function createLogger({ name, level, levels = [] }: LoggerOptions): Logger {
  const sink = new LogSink();
  const logger = pino(
    { name, level, base: { name, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    sink,
  );
  sink.onRecovered = (lines, reason) =>
    logger.warn({ lines, reason }, 'log lines could not be written');
  levelsOf.set(logger, new Map(levels.map((one) => one.split('=') as [string, string])));
  return logger;
}

/**
 * The logger of a process from its configuration; `BATON_PROCESS` is the name that its supervisor
 * gave it.
 */
export function processLogger(
  config: Pick<BatonConfig, 'logLevel' | 'logLevels'>,
  role: string,
): Logger {
  const name = process.env['BATON_PROCESS'] ?? role;
  return createLogger({ name, level: config.logLevel, levels: config.logLevels });
}

/**
 * The logger of a part of the process: its lines name the part, which may have its own level.
 * @param logger as `createLogger` made it
 */
export function moduleLogger(logger: Logger, module: string): Logger {
  const level = levelsOf.get(logger)?.get(module);
  return logger.child({ module }, level === undefined ? {} : { level });
}

export type { Logger };
