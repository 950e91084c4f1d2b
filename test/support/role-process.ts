import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Stage } from '@baton/contract';
import type { TestCluster } from './cluster';
import { waitUntil } from './wait';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

/**
 * `bin/baton up --role`: one process that joins a cluster over its Redis, as one on another host
 * does. Only its test restarts it.
 */
export class RoleProcess {
  private end: number | NodeJS.Signals | undefined;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;

  private constructor(private readonly child: ChildProcess) {
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.end = code ?? signal ?? 0;
        resolve(this.end);
      });
    });
  }

  /** Resolves when its engine takes work. */
  static async worker(
    cluster: TestCluster,
    stage: Stage,
    flags: readonly string[],
  ): Promise<RoleProcess> {
    const worker = RoleProcess.start(cluster, stage, flags);
    const isThere = async (): Promise<boolean> =>
      (await cluster.pidsOf(stage)).includes(worker.child.pid ?? 0);
    await worker.until(isThere, `the ${stage} worker is there`);
    return worker;
  }

  /** Resolves when it serves at `port`. */
  static async api(
    cluster: TestCluster,
    port: number,
    flags: readonly string[],
  ): Promise<RoleProcess> {
    const api = RoleProcess.start(cluster, 'api', ['--port', String(port), ...flags]);
    const serves = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        (answer) => answer.ok,
        () => false,
      );
    await api.until(serves, 'the API process serves');
    return api;
  }

  private static start(
    { redis }: TestCluster,
    role: Stage | 'api',
    flags: readonly string[],
  ): RoleProcess {
    const args = [BATON, 'up', '--role', role, '--redis', redis.url, ...flags];
    return new RoleProcess(spawn(process.execPath, args, { stdio: 'ignore' }));
  }

  get isAlive(): boolean {
    return this.end === undefined;
  }

  /** Lets it drain and end. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.ended;
  }

  private async until(holds: () => Promise<boolean>, what: string): Promise<void> {
    try {
      await waitUntil(
        () => {
          if (!this.isAlive) throw new Error(`it ended with ${String(this.end)}`);
          return holds();
        },
        { what },
      );
    } catch (error) {
      this.child.kill('SIGKILL');
      throw error;
    }
  }
}
