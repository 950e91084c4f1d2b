import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, type TransferListItem } from 'node:worker_threads';

/** What a task gives; what is transferred is not copied. */
export interface Performed {
  readonly value: unknown;
  readonly transfer?: readonly TransferListItem[];
}

/** The first message of a thread: it takes tasks from now on. */
export interface ThreadReady {
  readonly kind: 'ready';
  /** Its number in the system; undefined where the system does not tell. */
  readonly systemId: number | undefined;
}

export type ThreadMessage =
  | ThreadReady
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Below the event loop, which tokens and other clients wait for (nice(1), of 19). */
const NICENESS = 10;

/** In the thread: takes one task after the other and answers each. */
export function serveWork(perform: (task: unknown) => Performed): void {
  const say = (message: ThreadMessage, transfer: readonly TransferListItem[] = []): void =>
    parentPort?.postMessage(message, transfer);
  yieldToOthers();
  parentPort?.on('message', (task: unknown) => {
    try {
      const { value, transfer } = perform(task);
      say({ kind: 'done', value }, transfer);
    } catch (error) {
      say({ kind: 'failed', error });
    }
  });
  say({ kind: 'ready', systemId: systemId() });
}

/** On Linux a priority is that of the calling thread; elsewhere it is that of the process. */
function yieldToOthers(): void {
  if (process.platform === 'linux') setPriority(NICENESS);
}

/** Linux shows each thread of a process under its number. */
function systemId(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}
