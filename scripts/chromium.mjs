import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];

/** The Chromium on PATH; undefined where there is none. */
export function chromiumPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/**
 * The Chromium on PATH.
 *
 * @throws Error where there is none.
 */
export function findChromium() {
  const found = chromiumPath();
  if (found === undefined)
    throw new Error('No Chromium on PATH: npm run test:browser installs it.');
  return found;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
