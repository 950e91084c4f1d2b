/* global AbortController */
// Requirements for a cluster that the compose file started, one function per check. A check throws
// when it fails.
import { unanswered } from './boards.mjs';
import { idleShares } from './idle.mjs';
import { expectThat, LOADED, until } from './shell.mjs';
import { chat, Flood, prompts } from './streams.mjs';

export const SCALE = { prefill: 2, decode: 3 };
export const EVERY = { redis: 1, api: 1, ...SCALE, prometheus: 1 };
const OURS = ['api', 'prefill', 'decode'];
/** The engine checks every 30 s. */
const IDLE_SECONDS = 60;
const IDLE_WINDOWS = 4;
const IDLE_SHARE = 0.05;
/** Under other load the same instructions take longer: the window is void. */
const QUIET_SHARE = 0.5;

export async function isConfined({ project }) {
  for (const service of OURS) {
    for (const { Config, HostConfig } of await project.inspect(await project.containers(service))) {
      expectThat(HostConfig.ReadonlyRootfs, `${service}: its root file system is writable`);
      expectThat(Config.User === 'node', `${service} runs as ${Config.User}`);
      expectThat(HostConfig.CapDrop?.includes('ALL'), `${service} keeps capabilities`);
    }
  }
  for (const { Name, NetworkSettings } of await project.inspect(await project.containers())) {
    const published = Object.values(NetworkSettings.Ports).flatMap((each) => each ?? []);
    const open = published.filter(({ HostIp }) => HostIp !== '127.0.0.1');
    expectThat(open.length === 0, `${Name} is reachable from other machines`);
  }
}

/** No requests arrive during this time: Prometheus, which scrapes metrics, is paused. */
export async function isIdle({ project, engine }) {
  const [prometheus] = await project.containers('prometheus');
  await project.docker(['pause', prometheus]);
  try {
    return await costsLittle(project, engine);
  } finally {
    await project.docker(['unpause', prometheus]);
  }
}

/**
 * The first windows include the start-up: V8 compiles and collects garbage for some two minutes.
 */
async function costsLittle(project, engine) {
  const services = ['redis', ...OURS];
  const ids = (await Promise.all(services.map((each) => project.containers(each)))).flat();
  const said = [];
  let isVoid = true;
  for (let window = 0; window < IDLE_WINDOWS; window += 1) {
    const idle = await idleShares(ids, { env: project.env, seconds: IDLE_SECONDS });
    const share = idle.containers + (engine.isOurs ? idle.engine : 0);
    const percent = (part) => `${(100 * part).toFixed(1)} %`;
    said.push(
      `${percent(idle.containers)} of a core in containers, ${percent(idle.engine)} in the engine, ` +
        `${percent(idle.others)} of the machine busy with other work`,
    );
    isVoid &&= idle.others > QUIET_SHARE;
    if (share <= IDLE_SHARE) return said.at(-1);
  }
  throw new Error([...(isVoid ? ['void: the machine is busy'] : []), ...said].join('\n'));
}

export async function answers({ origin }) {
  const asked = { prompt: 'Pass the baton on.', tokens: 40 };
  const text = await chat(origin, asked);
  expectThat(text.length > 0 && text === (await chat(origin, asked)), 'two answers differ');
}

/**
 * Kills a decode container while it streams, and then a prefill one with long prompts to compute.
 */
export async function losesNothingWhenKilled({ project, origin }) {
  const streams = new Flood(origin, prompts(30, { name: 'kill', words: 40, tokens: 400 }));
  await streams.underWay();
  await kill(project, 'decode');
  const long = new Flood(origin, prompts(12, { name: 'long', words: 2_500, tokens: 40 }));
  await kill(project, 'prefill');
  await project.up(OURS, SCALE);
  await project.healthy({ ...SCALE, api: 1 });
  await until('all engines', () => hasEngines(origin, SCALE));
  return `${(await streams.ended()) + (await long.ended())} streams whole and equal`;
}

async function kill(project, service) {
  const [first] = await project.containers(service);
  await project.docker(['kill', first]);
}

export async function losesNothingWhenScaled({ project, origin }) {
  const less = new Flood(origin, prompts(20, { name: 'less', words: 40, tokens: 400 }));
  await less.underWay();
  await project.up(OURS, { ...SCALE, decode: 1 });
  await until('one decode engine', () => hasEngines(origin, { ...SCALE, decode: 1 }));
  const more = new Flood(origin, prompts(20, { name: 'more', words: 40, tokens: 400 }));
  await more.underWay();
  await project.up(OURS, SCALE);
  await project.healthy(SCALE);
  await until('three decode engines', () => hasEngines(origin, SCALE));
  return `${(await less.ended()) + (await more.ended())} streams whole and equal`;
}

async function hasEngines(origin, scale) {
  const page = await (await fetch(`${origin}/metrics`)).text();
  return Object.entries(scale).every(([stage, count]) => {
    const line = new RegExp(`^baton:engines\\{[^}]*stage="${stage}"[^}]*\\} (\\d+)$`, 'gm');
    const ready = [...page.matchAll(line)].filter(([text]) => text.includes('state="ready"'));
    return ready.reduce((sum, [, n]) => sum + Number(n), 0) === count;
  });
}

export async function survivesRedis({ project, origin }) {
  const streams = new Flood(origin, prompts(20, { name: 'redis', words: 40, tokens: 400 }));
  await streams.underWay();
  const [redis] = await project.containers('redis');
  await project.docker(['restart', redis]);
  await project.healthy({ redis: 1 });
  return `${await streams.ended()} streams whole and equal`;
}

export async function isLoaded({ project }) {
  const load = { LOADGEN_REQUESTS: '60', LOADGEN_RATE: '10', LOADGEN_INPUT: '256' };
  await project.compose(['run', '--rm', '-T', 'loadgen'], { env: load, codes: LOADED });
}

/** Under load, with some clients that disconnect early and some refusals. */
export async function fillsBoards({ origin, prometheus }) {
  let isOver = false;
  const traffic = keepBusy(origin, () => isOver);
  let left = { queries: [], empty: [] };
  const areFilled = async () => {
    left = await unanswered(prometheus);
    return left.empty.length === 0;
  };
  try {
    await until('boards', areFilled, { deadlineMs: 240_000, everyMs: 2_000 });
  } catch {
    const list = left.empty.map(({ board, panel, expr }) => `${board}, ${panel}: ${expr}`);
    throw new Error(
      `${list.length} of ${left.queries.length} queries are empty:\n${list.join('\n')}`,
    );
  } finally {
    isOver = true;
    await traffic;
  }
  return `${left.queries.length} queries`;
}

async function keepBusy(origin, isOver) {
  const url = `${origin}/v1/completions`;
  const headers = { 'content-type': 'application/json' };
  const send = (body, signal) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
      .then((response) => response.text())
      .catch(() => undefined);
  for (let i = 0; !isOver(); i += 1) {
    const leaving = new AbortController();
    const left = send({ prompt: 'x', max_tokens: 2_000, stream: true }, leaving.signal);
    const asked = prompts(6, { name: `busy${i}-`, words: 100, tokens: 20 });
    await Promise.all(asked.map((each) => chat(origin, each).catch(() => undefined)));
    leaving.abort();
    await left;
    await send({ model: 'another', prompt: 'x' });
  }
}

export async function targetsAreUp({ prometheus }) {
  const areUp = async () => {
    const answer = await fetch(`${prometheus}/api/v1/query?query=up`).then(
      (response) => response.json(),
      () => undefined,
    );
    const found = answer?.data?.result ?? [];
    return found.length === 6 && found.every(({ value }) => value[1] === '1');
  };
  await until('Prometheus finds six targets up', areUp, { deadlineMs: 120_000, everyMs: 1_000 });
}
