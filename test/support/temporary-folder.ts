import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Vitest calls this once before all tests. Tests and the processes that they start put their
 * temporary files into one folder.
 *
 * @returns a function that removes that folder
 */
export function setup(): () => void {
  const outer = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'baton-tests-'));
  // Some tests start processes as another user.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
  return () => {
    if (outer === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = outer;
    // A process that a test has just ended may still write its last file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
