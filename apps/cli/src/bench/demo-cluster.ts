import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Failure } from '@baton/kernel';
import { PARENT_WATCH, WATCHED_STDIO } from '@baton/supervisor';

const MAIN = join(__dirname, '..', 'main.js');
const URL_OF_READY = /^Ready in .*?: (\S+)\/v1 ·/;
const LAST_LINES = 20;

/** `baton up` on a free port, as a child process that ends with this one. */
export class DemoCluster {
  private readonly child: ChildProcess;
  private readonly gone: Promise<unknown>;
  private readonly lines: string[] = [];

  /** @param flags further flags of `baton up` */
  constructor(topology: string, flags: readonly string[] = []) {
    const own = ['--port', '0', '--log-level', 'warn'];
    const args = ['--require', PARENT_WATCH, MAIN, 'up', topology, ...own, ...flags];
    // A separate process group, so that Ctrl-C in the terminal reaches only this process, which
    // ends the cluster when its results are written.
    this.child = spawn(process.execPath, args, { detached: true, stdio: WATCHED_STDIO });
    this.gone = once(this.child, 'exit');
  }

  /** Like `ready`. Undefined: a stop was requested before the cluster was ready. */
  async readyUnless(stop: AbortSignal): Promise<string | undefined> {
    const stopped = new Promise<undefined>((done) => {
      if (stop.aborted) done(undefined);
      stop.addEventListener('abort', () => done(undefined));
    });
    return Promise.race([this.ready(), stopped]);
  }

  /**
   * The address of the cluster, when it is ready.
   *
   * @throws Failure with the output of the cluster when it has ended
   */
  private async ready(): Promise<string> {
    const url = new Promise<string>((resolve) => {
      for (const stream of [this.child.stdout!, this.child.stderr!]) {
        createInterface({ input: stream }).on('line', (line) => {
          this.lines.push(line);
          if (this.lines.length > LAST_LINES) this.lines.shift();
          const [, found] = URL_OF_READY.exec(line) ?? [];
          if (found !== undefined) resolve(found);
        });
      }
    });
    const found = await Promise.race([url, this.gone.then(() => undefined)]);
    if (found !== undefined) return found;
    throw new Failure(`The cluster did not start:\n${this.lines.join('\n')}`);
  }

  /** Stops the cluster. A second call stops it immediately, like a second Ctrl-C. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.gone;
  }
}
