import {
  emptyFrameEntry,
  type EndReason,
  type ErrorCode,
  type ExecutedRequest,
  type KvTransferParams,
  type UpstreamFailure,
} from '@baton/contract';
import type { Incoming } from '@baton/placement';
import type { HandOverRecord } from '@baton/transport';
import type { Executor, ExecutorSides } from '../worker/executor';
import { EXECUTED, HandOver } from '../worker/hand-over';
import type { HostContext } from '../worker/host-context';
import { KeptPayloads } from '../worker/kept-payloads';
import { isOver, type Run } from '../worker/run';
import { HealthWatch } from './health-watch';
import { decodeBody, prefillBody } from './leg-bodies';
import { eventsIn } from './sse-reader';
import {
  lostBy,
  objectIn,
  refusalOf,
  UpstreamLost,
  UpstreamRefusal,
  type UpstreamServer,
} from './upstream-server';

const DONE = '[DONE]';
const FINISH = /"finish_reason":\s*"(stop|length|abort|tool_calls|function_call)"/;
const LOST_CODES: Readonly<Record<UpstreamLost['why'], ErrorCode>> = {
  unreachable: 'upstream_lost',
  timeout: 'upstream_timeout',
  cut: 'upstream_lost',
  garbled: 'upstream_garbled',
};

/**
 * Runs jobs of one engine on an upstream server: queues, hand-over, recovery and answers are those of any engine. An upstream text is never begun twice for one client: what fails before
 * its first token is tried again elsewhere, with a prefill of its own, and what fails later ends the answer.
 */
export class UpstreamExecutor implements Executor {
  private readonly running = new Map<Run, AbortController>();
  private readonly hands: HandOver;
  private readonly health: HealthWatch;
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly context: HostContext,
    private readonly sides: ExecutorSides,
    private readonly server: UpstreamServer,
  ) {
    this.hands = new HandOver(context, sides.endings);
    this.health = new HealthWatch(server, context.log);
  }

  open(onState: (isUp: boolean) => void): void {
    this.health.start(onState);
  }

  async close(): Promise<void> {
    this.health.stop();
    for (const controller of this.running.values()) controller.abort();
    await this.server.close();
  }

  /** Nothing while the server is down. */
  roomLeft({ sequences }: Incoming): number {
    if (!this.health.isUp) return 0;
    return this.context.options.facts.maxNumSeqs - this.running.size - sequences;
  }

  start(run: Run, handOver: HandOverRecord | undefined): void {
    const controller = new AbortController();
    this.running.set(run, controller);
    run.isScheduled = true;
    this.sayState(run, 'scheduled');
    this.execute(run, handOver, controller.signal)
      .catch((error: unknown) => this.onFailure(run, error))
      .finally(() => this.running.delete(run));
  }

  cancel(run: Run): void {
    this.running.get(run)?.abort();
    this.running.delete(run);
  }

  private async execute(
    run: Run,
    handOver: HandOverRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const stored = await this.context.transport.ledger.getPrompt(run.job.requestId);
    if (isOver(run)) return;
    if (stored === undefined) {
      this.sides.endings.fail(run, 'engine_error');
      return;
    }
    const request = JSON.parse(stored.toString()) as ExecutedRequest;
    if (run.stage === 'prefill') await this.prefill(run, request, signal);
    else if (run.stage === 'decode' && handOver === undefined) this.sides.failed.onSourceGone(run);
    else await this.generate(run, { request, params: this.paramsOf(run, handOver), signal });
  }

  private async prefill(run: Run, request: ExecutedRequest, signal: AbortSignal): Promise<void> {
    const answer = await this.server.ask({ request, body: prefillBody(request.body), signal });
    this.health.succeeded();
    if (isOver(run)) return;
    const params = answer['kv_transfer_params'] ?? undefined;
    run.state = 'moving-on';
    const heldUs = this.context.clock.wall.nowUs();
    const held = { params: (params ?? {}) as KvTransferParams, generation: EXECUTED, heldUs };
    await this.hands.pass(run, held);
  }

  private async generate(run: Run, { request, params, signal }: Generation): Promise<void> {
    const body = decodeBody(request.body, params);
    const answer = await this.server.post({ request, body, signal });
    this.health.succeeded();
    if (request.body['stream'] === true) await this.stream(run, answer);
    else await this.whole(run, answer);
  }

  /** What an upstream prefill has answered. A simulated one holds nothing that a server could read, and need not hold it any longer. */
  private paramsOf(run: Run, handOver: HandOverRecord | undefined): KvTransferParams | undefined {
    if (handOver === undefined) return undefined;
    const { params, generation } = handOver;
    if (generation === EXECUTED) return Object.keys(params).length === 0 ? undefined : params;
    const from = this.context.engineId;
    const { requestId } = run.job;
    const message = { kind: 'release', from, requestId, generation } as const;
    this.sides.mailbox.send(params.remote_engine_id ?? '', message);
    return undefined;
  }

  private async whole(run: Run, answer: AsyncIterable<Uint8Array>): Promise<void> {
    const text = await textOf(answer);
    objectIn(text);
    if (isOver(run)) return;
    this.say(run, text);
    this.complete(run, text);
  }

  private async stream(run: Run, answer: AsyncIterable<Uint8Array>): Promise<void> {
    let last = '';
    for await (const data of eventsIn(answer)) {
      if (isOver(run)) return;
      if (data === DONE) {
        this.complete(run, last);
        return;
      }
      if (data.startsWith('{"error"')) throw refusalOf(500, data);
      objectIn(data);
      this.say(run, data);
      if (FINISH.test(data)) last = data;
    }
    throw new UpstreamLost('cut', undefined);
  }

  /** One more event of the answer, as the server wrote it. */
  private say(run: Run, payload: string): void {
    (run.payloads ??= new KeptPayloads()).add(payload);
    if (run.emitted === 0) run.firstTokenUs = this.context.clock.nowUs();
    const { entry } = this;
    this.address(run);
    entry.kind = 'tokens';
    entry.first = run.emitted;
    entry.count = 1;
    entry.tail = payload;
    this.context.frames.add(run.outbox, entry);
    this.context.frames.flushSoon();
    run.emitted += 1;
  }

  /** It is with the server, or waits again for one. */
  private sayState(run: Run, kind: 'scheduled' | 'restarted'): void {
    const { entry } = this;
    this.address(run);
    entry.kind = kind;
    entry.first = 0;
    entry.count = 0;
    entry.tail = undefined;
    this.context.frames.add(run.outbox, entry);
    this.context.frames.flushSoon();
  }

  private complete(run: Run, last: string): void {
    const { entry } = this;
    const reason = reasonIn(last);
    this.address(run);
    entry.kind = 'end';
    entry.reason = reason;
    entry.first = run.emitted;
    entry.count = 0;
    entry.tail = undefined;
    this.context.frames.add(run.outbox, entry);
    this.context.frames.flushSoon();
    this.sides.endings.complete(run, { reason, tokens: run.emitted });
  }

  private address(run: Run): void {
    this.entry.streamId = run.job.streamId;
    this.entry.epoch = run.epoch;
    this.entry.reason = 'none';
  }

  private onFailure(run: Run, error: unknown): void {
    if (isOver(run)) return;
    const cause = lostBy(error);
    if (cause instanceof UpstreamRefusal) this.refused(run, cause.failure);
    else if (cause instanceof UpstreamLost) this.lost(run, cause);
    else this.context.guard(() => this.sides.endings.giveBack(run));
  }

  /** What the server says of the request holds wherever it runs. */
  private refused(run: Run, failure: UpstreamFailure): void {
    this.sides.endings.failUpstream(run, failure);
  }

  /** Before the first token another engine may try; a prefill that was read is not read again. */
  private lost(run: Run, { why, cause }: UpstreamLost): void {
    const { log } = this.context;
    log.warn(
      { requestId: run.job.requestId, server: this.server.url, why, err: cause },
      'upstream',
    );
    this.health.failed(why === 'unreachable');
    if (run.emitted > 0 || why === 'timeout') {
      this.sides.endings.fail(run, LOST_CODES[why]);
      return;
    }
    this.sayState(run, 'restarted');
    if (run.stage === 'decode') this.sides.failed.onSourceGone(run);
    else this.sides.endings.giveBack(run);
  }
}

interface Generation {
  readonly request: ExecutedRequest;
  readonly params: KvTransferParams | undefined;
  readonly signal: AbortSignal;
}

function reasonIn(last: string): EndReason {
  const [, reason = 'stop'] = FINISH.exec(last) ?? [];
  return reason === 'length' || reason === 'abort' ? reason : 'stop';
}

async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
