// Two hosts that share nothing but Redis: the front in one compose project and network, the workers
// in another, with a delay on the workers' side. Users' latencies beside the simulated ones.
import { join } from 'node:path';
import { freePorts, Project } from './project.mjs';
import { demand, execute, expectThat, LOADED, ROOT } from './shell.mjs';

export const DELAY_MS = 20;
const SCALE = { prefill: 2, decode: 3 };
const REQUESTS = 100;
const RATE_PER_SECOND = 10;
const RUNS = 4;
const ID = 'hosts';
const TOLERANCE_MS = 2;
/**
 * deploy/README.md: the first token has the delay this often at most, one way each; 10 were
 * measured.
 */
const DELAYS_TO_FIRST_TOKEN = 15;
/** Behind a delay steps end late on a quiet machine too, and `baton bench` says so. */
const LATE_STEPS = /steps of the server ended more than \d+ ms late$/;

export class TwoHosts {
  constructor(name, engine, variables) {
    const [near, far] = ['front', 'workers'].map((each) => `${name}-${each}`);
    this.near = new Project(near, engine, variables);
    this.far = new Project(far, engine, variables);
    this.engine = engine;
  }

  static async start(name, { engine, variables, delayMs }) {
    const [port] = await freePorts(1);
    const hosts = new TwoHosts(name, engine, { ...variables, BATON_PORT: port });
    hosts.origin = `http://127.0.0.1:${port}`;
    hosts.isDelayed = delayMs > 0;
    try {
      await hosts.#start(delayMs);
    } catch (error) {
      await hosts.close();
      throw error;
    }
    return hosts;
  }

  async #start(delayMs) {
    const { near, far } = this;
    await near.up(['redis', 'api'], {});
    await far.compose(['up', '--no-start', '--no-build', '--no-deps', ...Object.keys(SCALE)]);
    const [redis] = await near.containers('redis');
    const hasNetem = delayMs > 0 && (await this.#hasNetem(redis));
    const bridge = delayMs > 0 && !hasNetem ? await this.#relay(delayMs) : redis;
    await far.docker(['network', 'connect', '--alias', 'redis', `${far.name}_default`, bridge]);
    await far.up(['--no-deps', ...Object.keys(SCALE)], SCALE);
    await near.healthy({ redis: 1, api: 1 });
    await far.healthy(SCALE);
    if (hasNetem) {
      for (const id of await far.containers()) await this.#delay(id, 'eth0', delayMs);
    }
    this.way = hasNetem ? 'tc netem' : 'a relay (this kernel has no netem)';
  }

  async #hasNetem(id) {
    const added = await execute(
      await this.#tc(id, ['add', 'dev', 'lo', 'root', 'netem']),
      this.engine,
    );
    if (added.code !== 0) return false;
    await demand(await this.#tc(id, ['del', 'dev', 'lo', 'root']), this.engine);
    return true;
  }

  async #delay(id, device, delayMs) {
    const words = ['add', 'dev', device, 'root', 'netem', 'delay', `${delayMs}ms`];
    await demand(await this.#tc(id, words), this.engine);
  }

  async #tc(id, words) {
    const pid = await this.near.docker(['inspect', '--format', '{{.State.Pid}}', id]);
    return ['nsenter', '--target', pid, '--net', 'tc', 'qdisc', ...words];
  }

  #relay(delayMs) {
    const script = join(ROOT, 'test/compose/relay.mjs');
    return this.far.docker([
      ...['run', '--detach', '--init', '--network', `${this.near.name}_default`],
      ...[
        '--label',
        `com.docker.compose.project=${this.far.name}`,
        '--name',
        `${this.far.name}-relay`,
      ],
      ...['--no-healthcheck', '--volume', `${script}:/relay.mjs:ro`, '--entrypoint', 'node'],
      ...[this.far.env.BATON_IMAGE, '/relay.mjs', 'redis', '6379', String(delayMs)],
    ]);
  }

  /**
   * @returns medians in ms of the users' and of the simulated latencies, of a run that `baton
   *   bench` does not call void for another reason than the delay
   */
  async measured() {
    let why = '';
    for (let run = 0; run < RUNS; run += 1) {
      const prefix = `${ID}${run}-`;
      const result = await this.#bench(prefix);
      why = result.load_generator.void;
      if (why === null || (this.isDelayed && LATE_STEPS.test(why))) {
        return this.#compared(result, prefix);
      }
    }
    throw new Error(`void in each of ${RUNS} runs: ${why}`);
  }

  async #bench(prefix) {
    const words = [
      ...['run', '--rm', '-T', '--no-deps', 'loadgen', 'bench', '--base-url=http://api:8000'],
      ...['--dataset=random', `--num-prompts=${REQUESTS}`, `--request-rate=${RATE_PER_SECOND}`],
      ...['--random-input-len=512', '--random-output-len=64', '--num-warmups=5'],
      ...[`--request-id-prefix=${prefix}`, '--save-detailed', '--json', '--disable-tqdm'],
    ];
    const stdout = await this.near.compose(words, { codes: LOADED });
    const result = JSON.parse(stdout.slice(stdout.indexOf('{'), stdout.lastIndexOf('}') + 1));
    expectThat(result.completed === REQUESTS, `${result.failed} of ${REQUESTS} requests failed`);
    return result;
  }

  async #compared({ ttfts, itls }, prefix) {
    const simulated = { ttfts: [], itls: [] };
    for (let i = 0; i < REQUESTS; i += 1) {
      const answer = await fetch(`${this.origin}/v1/requests/${prefix}${i}/timeline`);
      const [{ events, steps }] = (await answer.json()).sequences;
      simulated.ttfts.push(events.find(({ name }) => name === 'first_token').at_us / 1e6);
      const at = steps.rows.map(([atUs]) => atUs);
      simulated.itls.push(at.slice(1).map((atUs, k) => (atUs - at[k]) / 1e6));
    }
    const gap = ttfts.map((ttft, i) => ttft - simulated.ttfts[i]);
    return {
      ttft: { seen: medianMs(ttfts), simulated: medianMs(simulated.ttfts), gap: medianMs(gap) },
      itl: { seen: medianMs(itls.flat()), simulated: medianMs(simulated.itls.flat()) },
    };
  }

  /** The front goes first: its Redis is also in the other network. */
  async close() {
    await execute(['docker', 'rm', '--force', `${this.far.name}-relay`], this.near);
    await this.near.down();
    await this.far.down();
  }

  async remains() {
    return [await this.near.remains(), await this.far.remains()].join('\n').trim();
  }
}

function medianMs(seconds) {
  const sorted = seconds.toSorted((a, b) => a - b);
  return 1e3 * sorted[Math.floor(sorted.length / 2)];
}

/**
 * @returns a line with the measurement. Throws when gaps differ from the simulated ones, or the
 *   first token is too late.
 */
export function judged({ ttft, itl }, { undelayed, delayMs }) {
  const pair = (what, { seen, simulated }) =>
    `${what} ${seen.toFixed(1)} ms, simulated ${simulated.toFixed(1)} ms`;
  const line = `${pair('TTFT', ttft)}; ${pair('ITL', itl)}`;
  const late = ttft.seen - undelayed.ttft.seen;
  expectThat(Math.abs(itl.seen - itl.simulated) <= TOLERANCE_MS, line);
  expectThat(
    late <= DELAYS_TO_FIRST_TOKEN * delayMs,
    `TTFT later by ${late.toFixed(1)} ms; ${line}`,
  );
  return line;
}
