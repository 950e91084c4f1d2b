import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { makeFolder, reasonOf } from '@baton/kernel';
import { type BatonConfig, UsageError } from '@baton/config';
import { isRecordingHeader, parseRecordingHeader, TraceError } from '@baton/workload';

/** Bytes read from a file to recognise it; enough for the first line of a recording. */
const HEAD_BYTES = 1 << 16;

/**
 * Clears the files that the processes of a new cluster will write. Files of an ended run with these
 * names are removed. Files that are still open stay; the new processes then choose other names.
 * Other files are not touched. Missing folders are created.
 *
 * @throws UsageError when a name belongs to another file, or cannot be written
 */
export function clearOutputFiles(config: BatonConfig): void {
  const { record, logSteps, recordAnswers, logFrames, logRequests } = config;
  if (record !== undefined) clear(record, '--record', stateOfRecording);
  if (logSteps !== undefined) clear(logSteps, '--log-steps', stateOfLines('{"step_ms"'));
  if (recordAnswers !== undefined) {
    clear(recordAnswers, '--record-answers', stateOfLines('{"baton_exchange":'));
  }
  if (logFrames !== undefined) clear(logFrames, '--log-frames', stateOfLines('{"at_us":'));
  if (logRequests !== undefined) clear(logRequests, '--log-requests', stateOfLines('{"at_us":'));
}

type State = 'ours' | 'in-use' | 'foreign';

function clear(path: string, flag: string, stateOf: (head: string) => State): void {
  const state = existsSync(path) ? stateAt(path, stateOf) : 'ours';
  if (state === 'foreign') {
    throw new UsageError(
      `${flag} ${path}: the file exists and is not a log of this kind. Choose another file.`,
    );
  }
  if (state === 'in-use') return;
  withFile(path, 'a', () => undefined);
  rmSync(path);
}

/** A device or a folder is never removed. */
function stateAt(path: string, stateOf: (head: string) => State): State {
  return statSync(path).isFile() ? stateOf(readFirstLine(path)) : 'foreign';
}

function stateOfRecording(head: string): State {
  if (head === '') return 'ours';
  if (!isRecordingHeader(head)) return 'foreign';
  try {
    const { host, pid } = parseRecordingHeader(head, '');
    return host === hostname() && !isAlive(pid) ? 'ours' : 'in-use';
  } catch (error) {
    if (error instanceof TraceError) return 'foreign';
    throw error;
  }
}

/** For a log in which all lines begin alike. */
function stateOfLines(beginning: string): (head: string) => State {
  return (head) => (head === '' || head.startsWith(beginning) ? 'ours' : 'foreign');
}

function readFirstLine(path: string): string {
  const buffer = Buffer.alloc(HEAD_BYTES);
  const bytes = withFile(path, 'r', (file) => readSync(file, buffer, 0, HEAD_BYTES, 0));
  return buffer.toString('utf8', 0, bytes).split('\n')[0] ?? '';
}

function withFile<T>(path: string, flags: 'a' | 'r', use: (file: number) => T): T {
  try {
    if (flags === 'a') makeFolder(dirname(path));
    const file = openSync(path, flags);
    try {
      return use(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${reasonOf(error)}.`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
