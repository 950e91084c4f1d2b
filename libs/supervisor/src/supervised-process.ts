import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type BatonConfig, configToJson } from '@baton/config';
import type { ChildMessage, SupervisorMessage } from '@baton/contract';
import { Backoff } from './backoff';

/** One process of the cluster, for every start. */
export interface ProcessSpec {
  /** `api`, `prefill-0`, `decode-1`. */
  readonly name: string;
  /** Compiled main module. */
  readonly entry: string;
  readonly config: BatonConfig;
  /**
   * Module that is loaded before the program. Default: the parent watch, which ends the process
   * when the supervisor has ended.
   */
  readonly preload?: string;
  /** Starts the process. Unset: `spawn`, in a process group of its own. */
  readonly launch?: Launch;
}

/** The parts of a start: modules to load, the main one last, and the environment. */
export interface Start {
  readonly preload: string;
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
}

export type Launch = (start: Start) => ChildProcess;

function spawnAlone({ preload, entry, env }: Start): ChildProcess {
  const args = ['--require', preload, entry];
  return spawn(process.execPath, args, { stdio: WATCHED_STDIO, env, detached: true });
}

/** The events of processes, as the supervisor reports them. */
export interface ProcessEvents {
  /** A line of the process, or a sentence about it. */
  onLine(name: string, line: string): void;
  /** The process is ready; reported once per start. */
  onReady(name: string): void;
  /** The process will not be restarted. */
  onGivenUp(sentence: string, exitCode: number): void;
  /** A message of the process other than ready. */
  onMessage?(name: string, message: ChildMessage): void;
  /** The process has ended and did not have to; it may have left without a word. */
  onEnded?(name: string, pid: number): void;
  /** The process ended as `becomes` had set. */
  onLeft?(name: string): void;
}

/**
 * With an arena for each thread (mallopt(3), M_ARENA_MAX) glibc keeps what threads have freed:
 * 217 MB in place of 190 after requests that threads worked on. With its growing M_MMAP_THRESHOLD
 * it also keeps large buffers: 201 MiB in place of 127 after bodies of 15 MiB.
 */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
/** Streams of a process with a parent watch. The last pipe closes when this process ends. */
export const WATCHED_STDIO: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'];
/** Module that ends a process when its parent has ended, for any reason. */
export const PARENT_WATCH = join(__dirname, 'parent-watch.js');
/** The part of the parent watch that sets flags of V8. */
export const WARM_UP = join(__dirname, 'warm-up.js');
/** Exit code of a wrong usage: a restart would end the same. */
const WRONG_USAGE = 2;

/**
 * Owns one child: starts it in its own process group (so that Ctrl-C reaches only the supervisor,
 * which stops all in order), restarts it after a crash, and ends it on request.
 */
export class SupervisedProcess {
  private child: ChildProcess | undefined;
  private readonly backoff = new Backoff();
  private restart: NodeJS.Timeout | undefined;
  private isStopping = false;
  private hasCrashed = false;
  private starts = 0;

  /** The specification of the next start; undefined when there is none. */
  private next: ProcessSpec | undefined;

  constructor(
    readonly spec: ProcessSpec,
    private readonly events: ProcessEvents,
  ) {
    this.next = spec;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  /** Sets the specification of the next start; undefined for no restart. */
  setNextSpec(next: ProcessSpec | undefined): void {
    this.next = next;
  }

  send(message: SupervisorMessage): void {
    this.child?.send(message);
  }

  start(): void {
    const spec = this.next ?? this.spec;
    const { name, entry, preload = PARENT_WATCH, launch = spawnAlone } = spec;
    // An injected crash happens once, so that the next start shows the recovery.
    const config = this.hasCrashed ? { ...spec.config, crashAfter: undefined } : spec.config;
    const startedMs = performance.now();
    const env = {
      ...MALLOC,
      ...process.env,
      BATON_CONFIG: configToJson(config),
      BATON_PROCESS: name,
      BATON_RESTARTS: String(this.starts++),
    };
    const child = launch({ preload, entry, env });
    this.child = child;
    for (const output of [child.stdout, child.stderr]) {
      // A process that could not be started has none.
      if (!output) continue;
      createInterface({ input: output }).on('line', (line) => this.events.onLine(name, line));
    }
    child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') this.events.onReady(name);
      else this.events.onMessage?.(name, message);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) noteEnd(`: ${error.message}`, null);
      else this.events.onLine(name, error.message);
    });
    child.once('exit', (code, signal) =>
      noteEnd(signal === null ? ` with exit code ${code}` : ` by ${signal}`, code),
    );
    const noteEnd = (how: string, code: number | null): void => {
      this.child = undefined;
      if (this.isStopping) return;
      if (child.pid !== undefined) this.events.onEnded?.(name, child.pid);
      if (this.next === undefined) this.events.onLeft?.(name);
      else this.onCrash(how, code, performance.now() - startedMs);
    };
  }

  /**
   * Sends the order to drain and end. Resolves when the process has ended; after `deadlineMs` it is
   * killed.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const child = this.child;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const force = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
    child.kill('SIGTERM');
    // A stopped process cannot act on the signal until it is continued.
    child.kill('SIGCONT');
    await gone;
    clearTimeout(force);
  }

  kill(): void {
    this.isStopping = true;
    clearTimeout(this.restart);
    this.child?.kill('SIGKILL');
  }

  private onCrash(how: string, code: number | null, livedMs: number): void {
    const { name } = this.spec;
    this.hasCrashed = true;
    const pauseMs = code === WRONG_USAGE ? undefined : this.backoff.next(livedMs);
    if (pauseMs === undefined) {
      const exitCode = code === WRONG_USAGE ? WRONG_USAGE : 1;
      this.events.onGivenUp(`${name} ended${how} and is not started again.`, exitCode);
      return;
    }
    this.events.onLine(name, `ended${how}; starting it again in ${pauseMs} ms`);
    this.restart = setTimeout(() => this.start(), pauseMs);
  }
}
