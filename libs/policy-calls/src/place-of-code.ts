import type { Session } from 'node:inspector';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Baton's own code. */
const DIST = join(__dirname, '..', '..', '..');
/** Code pauses within some 10 ms; with many scripts in the process the first time takes longer. */
const PAUSE_MS = 500;

/**
 * Looks at code that seems to be at its first line: a loop whose optimised code begins just then
 * is there for a moment.
 */
const LOOKS_AT_FIRST_LINE = 3;

interface Frame {
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
  readonly functionLocation?: { readonly lineNumber: number } | undefined;
}

/**
 * File and line of the innermost code of a user that another thread runs, `my-policy.mjs:12`. The
 * code stays paused. Undefined: it did not pause, or Baton's own code runs.
 */
export async function placeOfCode(session: Session): Promise<string | undefined> {
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.post('Debugger.enable');
  let place: string | undefined;
  for (let look = 0; look < LOOKS_AT_FIRST_LINE; look++) {
    const own = (await pausedFrames(session)).flatMap((frame) => {
      const file = fileOf(urls.get(frame.location.scriptId));
      return file === undefined ? [] : [{ frame, file }];
    });
    const [innermost] = own;
    if (innermost === undefined) break;
    const { lineNumber } = innermost.frame.location;
    place = `${basename(innermost.file)}:${lineNumber + 1}`;
    if (lineNumber !== innermost.frame.functionLocation?.lineNumber) break;
    if (look + 1 < LOOKS_AT_FIRST_LINE) session.post('Debugger.resume');
  }
  return place;
}

async function pausedFrames(session: Session): Promise<readonly Frame[]> {
  const paused = new Promise<readonly Frame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  session.post('Debugger.pause');
  return Promise.race([paused, sleep(PAUSE_MS, [])]);
}

/** Undefined for code of Node and of Baton. */
function fileOf(url: string | undefined): string | undefined {
  if (url?.startsWith('file:') !== true) return undefined;
  const file = fileURLToPath(url);
  return file.startsWith(DIST) ? undefined : file;
}
