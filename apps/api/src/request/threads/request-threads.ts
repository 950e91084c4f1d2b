import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BatonConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import { withinWork, WorkExceeded } from '@baton/kernel';
import type { AnswerHead, RequestLimits } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { WorkPool, WorkRefused } from '@baton/work-pool';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LargeBody, wholeBody } from '../../http/body/large-body';
import { CONFIG } from '../../tokens';
import { type SequenceEnd, ThreadedAnswer } from '../answer/threaded';
import type { AnswerFacts } from '../answer/answer';
import { TextSetup } from '../plan/text-setup';
import type { AnswerParts, Asked, Call, ThreadSource } from '../take/call';
import { weightOf } from '../take/weight';
import { type AnswerExtra, type BodyAnswer, bodyAnswer } from './body-answers';
import type { PlacedSequence, Taken, ThreadData, ThreadResult, ThreadTask } from './messages';
import { type PackedPlans, packPlans, unpackPlans } from './packed-plans';
import { refusalFrom } from './plain-refusal';

/** Exists in the build. Tests that run the sources do all on the event loop. */
const THREAD = join(__dirname, '../../thread/request-thread.js');

/** Steps of an automaton that take 20 ms on a slow core; see docs/limits.md. */
const LOOP_WORK = 10_000;

const BOUNDS = {
  /** One long request must not keep all others waiting. */
  threads: 2,
  maxWaiting: 64,
  maxWaitMs: 10_000,
  cpuMs: 2_000,
  wallMs: 20_000,
  /** Code and vocabulary (30 MiB for o200k, more for some models), and 256 MiB for the request. */
  heapMb: 384,
  idleMs: 10_000,
};

/**
 * Reads, plans and answers the requests that would hold the event loop, in threads. The code is the
 * same; a request only gets the time and the memory of one request there.
 */
@Injectable()
export class RequestThreads implements OnApplicationShutdown {
  private readonly pool: WorkPool | undefined;
  private tickets = 0;

  constructor(@Inject(CONFIG) config: BatonConfig, text: TextSetup) {
    const { model, datasetTokens } = text.parts;
    const data: ThreadData = { config, keepsText: model !== undefined, datasetTokens };
    if (existsSync(THREAD)) this.pool = new WorkPool({ ...BOUNDS, entry: THREAD, data });
  }

  onApplicationShutdown(): void {
    this.pool?.close();
  }

  /** Reads a body that is not light. @throws BatonError */
  async take(call: Call, limits: RequestLimits): Promise<Asked> {
    const { ask, body } = call;
    if (this.pool === undefined) return takeHere(call, limits);
    if (ask.name === undefined) return bounded(() => takeHere(call, limits));
    if (weightOf(body) === 'heavy') return this.takeInThread(call, limits);
    const asked = onLoop(() => ask.asked(ask.read(body, limits), limits));
    return asked ?? this.takeInThread(call, limits);
  }

  /** Plans of a request with constraints: made here, or in a thread where that takes too long. */
  async planConfined(call: Call, limits: RequestLimits, parts: PlanParts): Promise<OutputPlan[]> {
    if (this.pool === undefined) return parts.plan();
    if (call.ask.name === undefined) return bounded(parts.plan);
    const plans = onLoop(parts.plan);
    return (
      plans ?? this.plan(this.sourceOf(call.ask.name, call.body, limits), parts.places(), call)
    );
  }

  /** An answer for which no engine works. @throws BatonError */
  async answer<Name extends BodyAnswer>(
    name: Name,
    { body, limits, extra }: AnswerInput<Name>,
  ): Promise<string | Uint8Array> {
    const here = (): string => bodyAnswer(name, wholeBody(body), { limits, extra });
    if (this.pool === undefined) return here();
    const answer = weightOf(body) === 'heavy' ? undefined : onLoop(here);
    if (answer !== undefined) return answer;
    const source = this.sourceOf(undefined, body, limits);
    const bytes = await this.run<Uint8Array>({ kind: 'answer', source, name, extra });
    return Buffer.from(bytes.buffer);
  }

  /** The plans of a body that a thread has read. */
  async plan(
    source: ThreadSource,
    places: readonly PlacedSequence[],
    call: Call,
  ): Promise<OutputPlan[]> {
    return unpackPlans(await this.run<PackedPlans>({ kind: 'plan', source, places }, call));
  }

  private async takeInThread(call: Call, limits: RequestLimits): Promise<Asked> {
    const source = this.sourceOf(call.ask.name, call.body, limits);
    const { reading, fields } = await this.run<Taken>({ kind: 'take', source }, call);
    if (call.body instanceof LargeBody) call.body.show(fields);
    const asked = { ...call.ask.asked(reading, limits), source };
    if (asked.request.stream) return asked;
    const answer = ({ http, head, plans }: AnswerParts): ThreadedAnswer =>
      new ThreadedAnswer(http, (ends, facts) =>
        this.render({ source, head, plans: packPlans(plans), ends, facts }, call),
      );
    return { ...asked, answer };
  }

  private render(parts: RenderParts, call: Call): Promise<Uint8Array> {
    return this.run<Uint8Array>({ kind: 'render', ...parts }, call);
  }

  private sourceOf(ask: string | undefined, body: unknown, limits: RequestLimits): ThreadSource {
    this.tickets += 1;
    return {
      ticket: this.tickets,
      ask: ask ?? '',
      body: body instanceof LargeBody ? body.bytes : body,
      models: limits.models,
      kvCapacityTokens: limits.kvCapacityTokens,
    };
  }

  /** @param call ends the task with its connection; undefined: the task's own bounds end it */
  private async run<Value>(task: ThreadTask, call?: Call): Promise<Value> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    call?.response.once('close', leave);
    try {
      const result = (await this.pool!.run(task, gone.signal)) as ThreadResult<Value>;
      if (result.refusal === undefined) return result.value;
      throw refusalFrom(result.refusal);
    } catch (error) {
      throw error instanceof WorkRefused ? refused(error) : error;
    } finally {
      call?.response.off('close', leave);
    }
  }
}

interface AnswerInput<Name extends BodyAnswer> {
  readonly body: unknown;
  readonly limits: RequestLimits;
  readonly extra?: AnswerExtra<Name>;
}

interface PlanParts {
  readonly places: () => readonly PlacedSequence[];
  /** Makes the plans on the event loop. */
  readonly plan: () => OutputPlan[];
}

interface RenderParts {
  readonly source: ThreadSource;
  readonly head: AnswerHead;
  readonly plans: PackedPlans;
  readonly ends: readonly SequenceEnd[];
  readonly facts: AnswerFacts;
}

/** Where there are no threads. */
function takeHere({ ask, body }: Call, limits: RequestLimits): Asked {
  const value = wholeBody(body);
  if (body instanceof LargeBody) body.show(value as object);
  return ask.asked(ask.read(value, limits), limits);
}

/** For what no thread knows. @throws BatonError where it takes too much work for the event loop */
function bounded<Result>(run: () => Result): Result {
  const result = onLoop(run);
  if (result === undefined) throw new BatonError('request_too_complex');
  return result;
}

/** Undefined: it takes more work than the event loop has for one request. */
function onLoop<Result>(run: () => Result): Result | undefined {
  try {
    return withinWork(LOOP_WORK, run);
  } catch (error) {
    if (error instanceof WorkExceeded) return undefined;
    throw error;
  }
}

function refused({ reason }: WorkRefused): BatonError {
  switch (reason) {
    case 'busy':
      return new BatonError('threads_busy', undefined, null, BOUNDS.maxWaitMs / 1_000);
    case 'too-complex':
      return new BatonError('request_too_complex');
    case 'left':
      // The connection is closed: no client reads it.
      return new BatonError('slow_reader');
  }
}
