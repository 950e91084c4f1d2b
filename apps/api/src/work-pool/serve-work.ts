import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, type TransferListItem } from 'node:worker_threads';

/** The result of a task. Objects in `transfer` are not copied. */
export interface Performed {
  readonly value: unknown;
  readonly transfer?: readonly TransferListItem[];
}

/** The first message of a thread: it is ready for tasks. */
export interface ThreadReady {
  readonly kind: 'ready';
  /** The thread's number in the system. Undefined where the system does not expose it. */
  readonly systemId: number | undefined;
}

export type ThreadMessage =
  | ThreadReady
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Below the event loop, which tokens and other clients wait for (nice(1), of 19). */
const NICENESS = 10;

/** Runs in the thread: performs one task after another and answers each. */
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
