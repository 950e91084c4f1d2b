import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RequestLog } from '@baton/analysis';
import { Failure, usToMs } from '@baton/kernel';
import {
  HttpStreams,
  type LoadRecord,
  probeServer,
  type RequestDetail,
  runLoad,
  type ServerAccess,
  type ServerFacts,
} from '@baton/loadgen';
import type { Workload } from '@baton/workload';
import { type Counters, countersIn, type Seen } from './counters';
import type { LiveRequest } from './live-request';
import { PromptBodies } from './prompt-bodies';
import type { Answered, LiveTarget, TargetRun } from './target';

const ASK_MS = 10_000;
/** Maximum delay of counters behind answers, and of a cluster until it is at rest. */
const LAG_MS = 3_000;
const REST_MS = 30_000;
/** A request that has just ended is still counted for this time. */
const SETTLING_MS = 1_000;
const RETRY_MS = 20;
/** Longer than the interval at which engines report their counters. */
const TELLING_MS = 1_500;

/** A server that is measured over HTTP. */
export class ServerTarget implements LiveTarget {
  /**
   * Each run of the command has other words, so that a second run finds no prompt of the first in a
   * cache.
   */
  private seed = randomInt(2 ** 31);
  private runs = 0;
  /**
   * Requests that were answered whole since the last read of the counters, and the counters then.
   */
  private answered = 0;
  private succeeded: number | undefined;

  private constructor(
    private readonly request: Pick<LiveRequest, 'server' | 'requestTimeoutMs'>,
    private readonly bodies: PromptBodies,
    readonly facts: ServerFacts,
    private readonly streams: HttpStreams,
    private readonly stop: AbortSignal,
  ) {}

  /** @throws Failure when no server answers, or requests already run there */
  static async open(request: LiveRequest, stop: AbortSignal): Promise<ServerTarget> {
    const { server } = request;
    const facts = await probeServer(server, stop);
    const bodies = await PromptBodies.of(server, facts.model, request.ignoreEos);
    const { origin, prefix, endpoint, headers, protocol } = server;
    const streams = new HttpStreams({ origin, path: prefix + endpoint, headers, protocol });
    const target = new ServerTarget(request, bodies, facts, streams, stop);
    const busy = await target.busyFor(SETTLING_MS);
    if (busy === 0) return target;
    await target.close();
    throw new Failure(
      `${origin} is busy: ${busy} requests run or wait there. Calibrate an idle server.`,
    );
  }

  /**
   * Number of requests that still run or wait after this time. 0 for none, and for a server without
   * metrics.
   */
  private async busyFor(timeoutMs: number): Promise<number> {
    const beganMs = performance.now();
    for (;;) {
      const { running = 0, waiting = 0 } = (await this.page()) ?? {};
      const busy = running + waiting;
      if (busy === 0 || performance.now() - beganMs > timeoutMs) return busy;
      await pause(RETRY_MS);
    }
  }

  close(): Promise<void> {
    return this.streams.close();
  }

  async run(workload: Workload, continues = false): Promise<TargetRun> {
    if (!continues) this.seed += 1;
    const { streams, stop } = this;
    const record = await runLoad({
      workload,
      streams,
      signal: stop,
      bodyOf: this.bodies.for(workload, this.seed),
      keepsText: () => false,
      keepsDetails: true,
      maxConcurrency: Infinity,
      deadlineMs: this.request.requestTimeoutMs,
      idPrefix: `calibrate-${this.seed}-${this.runs++}-`,
    });
    if (stop.aborted) throw new Failure('Interrupted.');
    return this.read(record);
  }

  /** The counters, once they include every answer and no request runs. */
  async counters(): Promise<Counters | undefined> {
    const beganMs = performance.now();
    const expected = this.succeeded === undefined ? 0 : this.succeeded + this.answered;
    for (;;) {
      const counters = await this.page();
      if (counters === undefined) return undefined;
      const waitedMs = performance.now() - beganMs;
      const isBusy = counters.running + counters.waiting > 0;
      if (isBusy && waitedMs > REST_MS) {
        throw new Failure(
          `${this.request.server.origin} does not become idle. Stop the other requests to it.`,
        );
      }
      if (!isBusy && (counters.succeeded >= expected || waitedMs > LAG_MS)) {
        this.succeeded = counters.succeeded;
        this.answered = 0;
        return counters;
      }
      await pause(RETRY_MS);
    }
  }

  /** Engines report their counters about once a second. */
  async measureKvBytes(workload: Workload): Promise<number | undefined> {
    const before = await this.settledBytes();
    if (before === undefined || before.count === 0) return undefined;
    await this.run(workload);
    const after = await this.settledBytes();
    return after === undefined || after.count === before.count ? undefined : after.sum - before.sum;
  }

  private async settledBytes(): Promise<Seen | undefined> {
    await pause(TELLING_MS);
    return (await this.counters())?.transferBytes;
  }

  private async page(): Promise<Counters | undefined> {
    const { origin, prefix, headers } = this.request.server;
    const { ['content-type']: _of, ...others } = headers;
    try {
      const signal = AbortSignal.timeout(ASK_MS);
      const answer = await fetch(`${origin}${prefix}/metrics`, { headers: others, signal });
      return answer.ok ? countersIn(await answer.text()) : undefined;
    } catch {
      return undefined;
    }
  }

  private read({ run, details = [] }: LoadRecord): TargetRun {
    const answers = details.map((detail, row) => answerOf(run.log, row, detail));
    this.answered += answers.filter((answer) => answer !== undefined).length;
    const { log, itl, failures, lateness } = run;
    return { answers, log, itl, failures, void: lateness.void };
  }
}

function answerOf(
  log: RequestLog,
  row: number,
  { gapsUs, promptTokens, error }: RequestDetail,
): Answered | undefined {
  if (error !== '' || log.finishUs.at(row) < 0) return undefined;
  const sentUs = log.arrivalUs.at(row);
  return {
    startMs: usToMs(sentUs),
    ttftMs: usToMs(log.firstTokenUs.at(row) - sentUs),
    gapsMs: gapsUs.map(usToMs),
    inputTokens: promptTokens ?? log.promptTokens[row]!,
    outputTokens: log.emittedTokens[row]!,
    cachedTokens: log.cachedTokens[row]!,
  };
}

/** The server's address for messages. */
export function nameOf({ origin, prefix }: ServerAccess): string {
  return origin + prefix;
}
