// Checks the image that its Dockerfile builds: its size, its user, its content.
import { NODE } from './images.mjs';
import { demand, expectThat } from './shell.mjs';

const LARGEST_MEGABYTES = 250;
/** Packages that only development needs. */
const DEVELOPMENT = ['typescript', 'vitest', 'eslint', 'vite', '@swc'];

/** @returns how long the build took and what the image adds to its base */
export async function checkImage(image, engine) {
  const startedMs = performance.now();
  const build = ['docker', 'build', '--tag', image, '--file', 'deploy/docker/Dockerfile', '.'];
  await demand(build, { env: engine.env, deadlineMs: 1_800_000 });
  const seconds = (performance.now() - startedMs) / 1e3;
  const [made, base] = await Promise.all([image, NODE].map((each) => inspected(each, engine)));
  const megabytes = (made.Size - base.Size) / 1e6;
  expectThat(megabytes <= LARGEST_MEGABYTES, `${megabytes.toFixed(0)} MB over its base`);
  const { User, Healthcheck, Labels } = made.Config;
  expectThat(User === 'node', `runs as ${User}`);
  expectThat(Healthcheck?.StartPeriod > 0, 'has no health check with a start period');
  expectThat(Labels?.['org.opencontainers.image.title'] === 'Baton', 'has no labels');
  const list = ['run', '--rm', '--no-healthcheck', '--entrypoint', 'ls', image, 'node_modules'];
  const packages = (await demand(['docker', ...list], engine)).split('\n');
  const extra = packages.filter((name) => DEVELOPMENT.includes(name));
  expectThat(extra.length === 0, `holds packages of development: ${extra.join(', ')}`);
  return `built in ${seconds.toFixed(0)} s, ${megabytes.toFixed(0)} MB over its base`;
}

async function inspected(image, engine) {
  const [found] = JSON.parse(await demand(['docker', 'image', 'inspect', image], engine));
  return found;
}
