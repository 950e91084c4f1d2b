import type { Session } from 'node:inspector';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Baton's own code. */
const DIST = join(__dirname, '..', '..', '..', '..');

interface Frame {
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
}

/**
 * File and line of the innermost code of a user that another thread runs, `my-policy.mjs:12`. The
 * code stays paused. Undefined: it did not pause, or Baton's own code runs.
 */
export async function placeOfCode(session: Session, pauseMs: number): Promise<string | undefined> {
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const paused = new Promise<readonly Frame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  const frames = await Promise.race([paused, sleep(pauseMs, [])]);
  for (const { location } of frames) {
    const file = fileOf(urls.get(location.scriptId));
    if (file !== undefined) return `${basename(file)}:${location.lineNumber + 1}`;
  }
  return undefined;
}

/** Undefined for code of Node and of Baton. */
function fileOf(url: string | undefined): string | undefined {
  if (url?.startsWith('file:') !== true) return undefined;
  const file = fileURLToPath(url);
  return file.startsWith(DIST) ? undefined : file;
}
