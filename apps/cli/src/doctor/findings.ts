import { accessSync, constants } from 'node:fs';
import { execFile } from 'node:child_process';
import { availableParallelism, freemem, platform, release, totalmem } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const GIB = 2 ** 30;
const VERSION_DEADLINE_MS = 3_000;

/** One line of the report: the subject and the finding. */
export type DoctorFinding = readonly [what: string, found: string];

/** Path of an executable on PATH. Undefined: there is none. */
export function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

export function machineFindings(): DoctorFinding[] {
  const memory = `${(totalmem() / GIB).toFixed(1)} GiB, ${(freemem() / GIB).toFixed(1)} GiB free`;
  return [
    ['system', `${platform()} ${release()}`],
    ['node', process.version],
    ['cores', String(availableParallelism())],
    ['memory', memory],
  ];
}

/** Programs that Baton can use, with the first line of their version output. */
export async function programFindings(): Promise<DoctorFinding[]> {
  const programs = ['redis-server', 'valkey-server', 'apt-get', 'docker', 'npm'];
  return Promise.all(
    programs.map(async (program) => [program, await readVersion(program)] as const),
  );
}

async function readVersion(program: string): Promise<string> {
  const path = onPath(program);
  if (path === undefined) return 'not on PATH';
  try {
    const { stdout } = await run(path, ['--version'], { timeout: VERSION_DEADLINE_MS });
    return `${stdout.split('\n')[0] ?? ''} (${path})`;
  } catch {
    return `${path}, version unknown`;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
