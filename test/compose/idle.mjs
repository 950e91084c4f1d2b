// CPU time of an idle cluster: of its containers, including checks, and of the engine that makes
// the checks.
import { request } from 'node:http';
import { availableParallelism } from 'node:os';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const DEFAULT_SOCKET = '/var/run/docker.sock';
/** Linux counts CPU time of processes in hundredths of a second. */
const TICK_SECONDS = 0.01;
const ENGINE = /^(dockerd|containerd|containerd-shim)/;

/**
 * @returns shares of a core over `seconds`: of `ids`, and of the engine's own processes; and the
 *   share of all cores that something else used
 */
export async function idleShares(ids, { env, seconds }) {
  const socketPath = (env.DOCKER_HOST ?? DEFAULT_SOCKET).replace(/^unix:\/\//, '');
  const startedMs = performance.now();
  const used = async () => [
    await containerSeconds(ids, socketPath),
    engineSeconds(),
    busySeconds(),
  ];
  const before = await used();
  await delay(1e3 * seconds);
  const after = await used();
  const wall = (performance.now() - startedMs) / 1e3;
  const [containers, engine, busy] = after.map((total, i) => (total - before[i]) / wall);
  return { containers, engine, others: (busy - containers - engine) / availableParallelism() };
}

async function containerSeconds(ids, socketPath) {
  const all = await Promise.all(ids.map((id) => statsOf(id, socketPath)));
  return all.reduce((sum, { cpu_stats: { cpu_usage: usage } }) => sum + usage.total_usage / 1e9, 0);
}

function statsOf(id, socketPath) {
  const path = `/containers/${id}/stats?stream=false&one-shot=true`;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path }, (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () => resolve(JSON.parse(text)));
    });
    asked.once('error', reject).end();
  });
}

/** Of all cores: the time that is neither idle nor a wait for a disk. */
function busySeconds() {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).map(Number);
  const [user, nice, system, , , irq, softIrq] = ticks;
  return (user + nice + system + irq + softIrq) * TICK_SECONDS;
}

/** Includes ended children, which are the starts of checks. */
function engineSeconds() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + ticksOf(pid) * TICK_SECONDS, 0);
}

function ticksOf(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return 0;
  }
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  if (!ENGINE.test(name)) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
