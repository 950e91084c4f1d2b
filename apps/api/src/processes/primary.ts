import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import type { BatonConfig } from '@baton/config';
import type { ChildMessage, SupervisorMessage } from '@baton/contract';
import {
  claimPort,
  entryOf,
  PARENT_WATCH,
  type ProcessEvents,
  SupervisedProcess,
} from '@baton/supervisor';
import { mergedFamilies, type MetricFamily } from '@baton/telemetry';
import { CAN_SHARE_PORTS } from '../http/connections/acceptors';
import { makeKey } from '../http/access/admin-key';
import { isFromProcess, type ToProcess } from './messages';
import { type Order, Orders } from './orders';
import { type Fold, Relay } from './relay';
import { GENERATED_KEY_VARIABLE, PLACE_VARIABLE, SUPERVISED_VARIABLE } from './variables';

const MS_PER_SECOND = 1_000;
/** Time for a process to close its connections after its drain. */
const CLOSE_MS = 3_000;

/** The counts of an ended process stay in the sum of all. */
const keepCounts: Fold = (sum, last) => {
  const kept = [last, sum].filter((families) => families !== undefined) as MetricFamily[][];
  return mergedFamilies(kept.map((all) => all.filter(({ type }) => type !== 'gauge')));
};

/**
 * Runs several API processes that share their port. Each has sockets of its own where Node can
 * share ports; else they share one, and each accepts connections when its event loop is free.
 * Restarts those that crash, carries what they ask each other, and ends with all of them on a
 * signal. It answers no request itself.
 */
export async function runPrimary(config: BatonConfig, count: number): Promise<void> {
  const port = CAN_SHARE_PORTS ? await claimPort(config) : config.port;
  const primary = new Primary({ ...config, port }, count, entryOf('api'));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void primary.stop());
  }
  process.once('exit', () => primary.kill());
  const url = await primary.start();
  const ready: ChildMessage = { kind: 'ready', role: 'api', url };
  process.send?.(ready);
}

class Primary {
  private readonly processes: readonly SupervisedProcess[];
  private readonly relay = new Relay({ metrics: keepCounts });
  private readonly orders = new Orders((order) => void process.send?.(order));
  private readonly starting: Set<string>;
  private url = '';
  private onAllReady: (url: string) => void = () => undefined;

  constructor(
    private readonly config: BatonConfig,
    count: number,
    entry: string,
  ) {
    // A connection handed over by this process would wait for a turn of the other's event loop.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: entry,
      execArgv: ['--require', PARENT_WATCH],
      // The last pipe is for the parent watch: it closes when this process ends.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    });
    const generatedKey = makeKey();
    this.processes = Array.from({ length: count }, (_none, place) => {
      const launch = ({ env }: { readonly env: NodeJS.ProcessEnv }): ChildProcess => {
        const { process: child } = cluster.fork({
          ...env,
          [PLACE_VARIABLE]: place,
          [GENERATED_KEY_VARIABLE]: generatedKey,
          [SUPERVISED_VARIABLE]: process.send === undefined ? 'no' : 'yes',
        });
        this.connect(place, child);
        return child;
      };
      const spec = { name: `api-${place}`, entry, config, launch };
      return new SupervisedProcess(spec, this.events());
    });
    this.starting = new Set(this.processes.map(({ spec }) => spec.name));
    process.on('message', (message: SupervisorMessage) => this.orders.answer(message));
  }

  /** Resolves with the URL when all processes are ready for the first time. */
  start(): Promise<string> {
    const ready = new Promise<string>((resolve) => (this.onAllReady = resolve));
    for (const each of this.processes) each.start();
    return ready;
  }

  async stop(exitCode = 0): Promise<void> {
    const deadlineMs = this.config.shutdownTimeout * MS_PER_SECOND + CLOSE_MS;
    await Promise.all(this.processes.map((each) => each.stop(deadlineMs)));
    process.exit(exitCode);
  }

  kill(): void {
    for (const each of this.processes) each.kill();
  }

  private events(): ProcessEvents {
    return {
      onLine: (name, line) => process.stderr.write(`${name} ${line}\n`),
      onReady: (name) => {
        this.starting.delete(name);
        if (this.starting.size === 0) this.onAllReady(this.url);
      },
      onGivenUp: (sentence, exitCode) => {
        process.stderr.write(`${sentence}\n`);
        void this.stop(exitCode);
      },
    };
  }

  private connect(place: number, child: ChildProcess): void {
    const send = (message: ToProcess | SupervisorMessage): void => {
      if (child.connected) child.send(message);
    };
    this.relay.join(place, send);
    child.once('exit', () => this.relay.leave(place));
    child.on('message', (message: object) => {
      if (isFromProcess(message)) this.relay.receive(place, message);
      else if (isOrder(message)) this.orders.pass(message, send);
      else if (isReady(message)) this.url = message.url;
    });
  }
}

type Ready = Extract<ChildMessage, { readonly kind: 'ready' }>;

function isReady(message: object): message is Ready {
  return 'kind' in message && message.kind === 'ready';
}

function isOrder(message: object): message is Order {
  return 'kind' in message && 'id' in message;
}
