import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FOLDER } from '../places.mjs';

const ROOT = join(FOLDER, '..', '..');
const READY_MS = 90_000;
const SERVING = /^(prefill|decode|aggregated)-\d+ .*serving a local model .*server=(\S+)/;

/** `bin/baton up` as a user starts it, with methods to look inside and to kill processes. */
export class Cluster {
  static async start(topology, flags = []) {
    const port = await freePort();
    const args = ['bin/baton', 'up', topology, '--port', `${port}`, '--executor', 'llamacpp'];
    const env = { ...process.env };
    delete env.REDIS_URL;
    const supervisor = spawn(process.execPath, [...args, ...flags], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    const cluster = new Cluster(supervisor, `http://127.0.0.1:${port}`);
    await cluster.untilReady();
    return cluster;
  }

  constructor(supervisor, url) {
    Object.assign(this, { supervisor, url, log: '' });
    for (const output of [supervisor.stdout, supervisor.stderr]) {
      output.setEncoding('utf8').on('data', (text) => (this.log += text));
    }
    this.gone = new Promise((resolve) => supervisor.once('exit', resolve));
  }

  /** The server of the newest worker of a stage. */
  serverOf(stage) {
    const told = this.log.split('\n').flatMap((line) => {
      const [, of, url] = SERVING.exec(line) ?? [];
      return of === stage ? [url] : [];
    });
    return told.at(-1);
  }

  pidOf(stage) {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
    const app = stage === 'aggregated' ? 'decode' : stage;
    const line = lines
      .split('\n')
      .find(
        (each) => isChild(each, this.supervisor.pid) && each.includes(join('apps', app, 'src')),
      );
    return Number(line?.trim().split(/\s+/)[0]);
  }

  kill(stage) {
    process.kill(this.pidOf(stage), 'SIGKILL');
  }

  async stop() {
    this.supervisor.kill('SIGTERM');
    await this.gone;
  }

  async untilReady() {
    const endMs = performance.now() + READY_MS;
    while (!this.log.includes('Ready in')) {
      if (this.supervisor.exitCode !== null || performance.now() > endMs) {
        this.supervisor.kill('SIGTERM');
        throw new TypeError(`no cluster:\n${this.log}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function isChild(line, parent) {
  return line.trim().split(/\s+/)[1] === String(parent);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
