// npm run test:compose: the compose file and the image on a real Docker engine. Ends with `N
// passed, N failed`.
import { answers, EVERY, SCALE } from './cluster.mjs';
import * as cluster from './cluster.mjs';
import { obtainEngine } from './engine.mjs';
import { DELAY_MS, judged, TwoHosts } from './hosts.mjs';
import { checkImage } from './image.mjs';
import { provideImages } from './images.mjs';
import { freePorts, Project } from './project.mjs';
import { execute, expectThat, LOADED } from './shell.mjs';
import { chat } from './streams.mjs';

const NAME = `baton-test-${process.pid}`;
const IMAGE = `baton:${NAME}`;
/** Grafana is left out: where images cannot be pulled it cannot be built. */
const SERVICES = ['redis', 'api', 'prefill', 'decode', 'prometheus'];
/** With a policy, so that its decisions are counted for a board. */
const VARIABLES = { BATON_IMAGE: IMAGE, BATON_PLACEMENT: 'least-requests' };
const count = { passed: 0, failed: 0 };
const say = (line) => process.stdout.write(`      ${line}\n`);

process.exitCode = await main();

async function main() {
  const cleanups = [];
  const end = async () => {
    for (const close of cleanups.splice(0).reverse()) await close();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => void end().finally(() => process.exit(1)));
  }
  try {
    await runAll(cleanups);
  } finally {
    await step('the engine and all objects of the test are removed', end);
    process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
  }
  return count.failed === 0 ? 0 : 1;
}

async function runAll(cleanups) {
  const engine = await step('a Docker engine runs', async () => {
    const found = await obtainEngine(say);
    cleanups.push(() => found.close());
    return found;
  });
  if (!engine) return;
  const isBuilt = await step('base images are available and the image builds', async () => {
    await provideImages(engine.env, say);
    cleanups.push(() => execute(['docker', 'image', 'rm', '--force', IMAGE], engine));
    return checkImage(IMAGE, engine);
  });
  if (!isBuilt) return;
  await oneHost(engine, cleanups);
  await secrets(engine, cleanups);
  await twoHosts(engine, cleanups);
}

async function oneHost(engine, cleanups) {
  const [port, prometheusPort] = await freePorts(2);
  const variables = { ...VARIABLES, BATON_PORT: port, PROMETHEUS_PORT: prometheusPort };
  const project = new Project(NAME, engine, variables);
  const place = {
    project,
    engine,
    origin: `http://127.0.0.1:${port}`,
    prometheus: `http://127.0.0.1:${prometheusPort}`,
  };
  cleanups.push(() => project.down());
  const isUp = await step('compose up starts 2P3D, and is healthy', async () => {
    await project.up(SERVICES, {});
    await project.healthy(EVERY);
  });
  if (!isUp) return say(await project.state());
  await step(
    'containers are confined, and only this machine reaches them',
    cluster.isConfined,
    place,
  );
  await step('Prometheus finds every container', cluster.targetsAreUp, place);
  await step('an idle cluster costs at most 5 % of a core, checks included', cluster.isIdle, place);
  await step('a chat streams', answers, place);
  await step(
    'docker kill of decode and prefill loses no stream',
    cluster.losesNothingWhenKilled,
    place,
  );
  await step('decode=1 and back to 3 loses no stream', cluster.losesNothingWhenScaled, place);
  await step('docker restart redis loses no stream', cluster.survivesRedis, place);
  await step('the loadgen service loads the cluster', cluster.isLoaded, place);
  await step('every query of every board has data', cluster.fillsBoards, place);
  await step('compose down leaves nothing', () => goes(project));
}

async function goes(project) {
  await project.down();
  const remains = await project.remains();
  expectThat(remains === '', `left behind: ${remains}`);
}

async function secrets(engine, cleanups) {
  const [port] = await freePorts(1);
  const secret = { REDIS_PASSWORD: 'hush-redis', BATON_API_KEYS: '["hush-one","hush-two"]' };
  const variables = { ...VARIABLES, ...secret, BATON_PORT: port, LOADGEN_API_KEY: 'hush-two' };
  const project = new Project(`${NAME}-secrets`, engine, variables);
  cleanups.push(() => project.down());
  await step('REDIS_PASSWORD and BATON_API_KEYS are required', async () => {
    await project.up(['redis', 'api', 'prefill', 'decode'], {});
    await project.healthy({ redis: 1, api: 1, ...SCALE });
    const [redis] = await project.containers('redis');
    const words = ['exec', '--env', 'REDISCLI_AUTH=', redis, 'redis-cli', 'ping'];
    expectThat(/NOAUTH/.test(await project.docker(words)), 'Redis answers without the password');
    const origin = `http://127.0.0.1:${port}`;
    const asked = { prompt: 'Pass the baton on.', tokens: 5 };
    const refused = await chat(origin, asked).then(String, (error) => error.message);
    expectThat(refused.startsWith('HTTP 401'), `without a key: ${refused}`);
    for (const key of ['hush-one', 'hush-two']) await chat(origin, { ...asked, key });
    await project.compose(['run', '--rm', '-T', 'loadgen'], {
      env: { LOADGEN_REQUESTS: '5' },
      codes: LOADED,
    });
    await goes(project);
  });
}

async function twoHosts(engine, cleanups) {
  let undelayed;
  for (const delayMs of [0, DELAY_MS]) {
    await step(`two networks joined only by Redis, ${delayMs} ms of delay`, async () => {
      const name = `${NAME}-${delayMs}`;
      const hosts = await TwoHosts.start(name, { engine, variables: VARIABLES, delayMs });
      cleanups.push(() => hosts.close());
      const measured = await hosts.measured();
      if (delayMs === 0) undelayed = measured;
      expectThat(undelayed !== undefined, 'the run without a delay gave nothing to compare with');
      say(delayMs > 0 ? `delayed by ${hosts.way}` : 'no delay');
      say(judged(measured, { undelayed, delayMs }));
      await hosts.close();
      const remains = await hosts.remains();
      expectThat(remains === '', `left behind: ${remains}`);
    });
  }
}

/** @returns the result of `work`, or true; undefined when it fails */
async function step(name, work, ...args) {
  const startedMs = performance.now();
  try {
    const found = (await work(...args)) ?? true;
    count.passed += 1;
    const seconds = ((performance.now() - startedMs) / 1e3).toFixed(1);
    process.stdout.write(`ok    ${name} (${seconds} s)\n`);
    if (typeof found === 'string') say(found);
    return found;
  } catch (error) {
    count.failed += 1;
    process.stdout.write(`FAILED  ${name}\n${error.message}\n`);
    return undefined;
  }
}
