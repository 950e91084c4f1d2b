// One compose project: the commands for it, and the output of its containers.
import { createServer } from 'node:net';
import { demand, execute, until } from './shell.mjs';

const LABEL = 'com.docker.compose';
const START_MS = 600_000;

export class Project {
  /** @param variables those of docker-compose.yml */
  constructor(name, engine, variables) {
    this.name = name;
    this.engine = engine;
    this.env = { ...engine.env, ...variables, COMPOSE_PROJECT_NAME: name };
  }

  compose(words, options = {}) {
    return demand([...this.engine.compose, ...words], {
      ...options,
      env: { ...this.env, ...options.env },
      deadlineMs: START_MS,
    });
  }

  docker(words) {
    return demand(['docker', ...words], { env: this.env });
  }

  /** @param scale containers by service */
  async up(services, scale) {
    const scaled = Object.entries(scale).flatMap(([name, n]) => ['--scale', `${name}=${n}`]);
    await this.compose(['up', '--detach', '--no-build', ...scaled, ...services]);
  }

  /** Ids of running containers, of one service or of all. */
  async containers(service) {
    const filters = ['--filter', `label=${LABEL}.project=${this.name}`];
    if (service) filters.push('--filter', `label=${LABEL}.service=${service}`);
    const ids = await this.docker(['ps', '--quiet', '--no-trunc', ...filters]);
    return ids.split('\n').filter((id) => id !== '');
  }

  async inspect(ids) {
    return ids.length === 0 ? [] : JSON.parse(await this.docker(['inspect', ...ids]));
  }

  /** Waits until `scale` containers run and the engine reports each of them healthy. */
  async healthy(scale) {
    const isWell = ({ State: { Status, Health } }) =>
      Status === 'running' && Health?.Status === 'healthy';
    const areWell = async () => {
      for (const [service, count] of Object.entries(scale)) {
        const found = await this.inspect(await this.containers(service)).catch(() => []);
        if (found.length !== count || !found.every(isWell)) return false;
      }
      return true;
    };
    await until(`${Object.keys(scale).join(', ')} healthy`, areWell, {
      deadlineMs: START_MS,
    }).catch(async (error) => {
      throw new Error(`${error.message}\n${await this.state()}`);
    });
  }

  async state() {
    const { stdout } = await execute([...this.engine.compose, 'ps'], { env: this.env });
    const logs = [...this.engine.compose, 'logs', '--no-color', '--tail', '5'];
    return `${stdout}${(await execute(logs, { env: this.env })).stdout}`;
  }

  async down() {
    await this.compose(['down', '--volumes', '--remove-orphans', '--timeout', '60']);
  }

  /** The objects with the project's label or name. */
  async remains() {
    const filter = ['--quiet', '--filter', `label=${LABEL}.project=${this.name}`];
    const found = await Promise.all([
      this.docker(['ps', '--all', ...filter]),
      this.docker(['network', 'ls', ...filter]),
      this.docker(['volume', 'ls', ...filter]),
    ]);
    return found.join('\n').trim();
  }
}

/** Ports that were free shortly before. */
export async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => String(server.address().port));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
