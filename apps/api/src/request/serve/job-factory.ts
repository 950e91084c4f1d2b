import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { EngineJob, Fault } from '@baton/contract';
import { chainBlockHashes } from '@baton/kernel';
import type { AnswerHead, GenerationRequest } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { CallClasses } from '../../http/access/call-classes';
import { RequestSpans } from '../../observers/tracing/request-spans';
import { ApiIdentity, Config } from '../../tokens';
import { SequenceTable } from '../../sequences/sequence-table';
import type { PlannedRequest } from '../admit/admission';
import { cacheSalt, type Route } from '../route/route';
import { JobPlacement } from './job-placement';

/** Characters that some broker does not accept in a key; they become `_` in ids. */
const UNSAFE = /[^A-Za-z0-9._-]/g;
const MAX_ID_LENGTH = 120;

/** The common part of the jobs of one request. */
interface JobContext {
  readonly request: GenerationRequest;
  /** The prefix of the internal ids. */
  readonly baseId: string;
  readonly salt: number;
  readonly arrivalUs: number;
  /** Time at which flow control released the request; its arrival if it did not wait. */
  readonly causeUs: number;
  /** The LoRA adapter that the request names; undefined: the base model. */
  readonly adapter: string | undefined;
  /** W3C trace context of the request's span; undefined: nothing is traced. */
  readonly traceparent: string | undefined;
  /** True when an upstream server answers. */
  readonly executes: boolean;
  /** Lower priorities run first. */
  readonly priority: number;
  /** Faults for engines to carry out. */
  readonly faults: readonly Fault[];
}

interface PlannedSequence {
  readonly index: number;
  /** The stream under which its tokens come. */
  readonly streamId: number;
  readonly plan: OutputPlan;
  readonly route: Route;
}

/** Turns planned sequences into jobs: lengths and block hashes, no text. */
@Injectable()
export class JobFactory {
  constructor(
    private readonly config: Config,
    private readonly identity: ApiIdentity,
    private readonly catalog: ModelCatalog,
    private readonly table: SequenceTable,
    private readonly placement: JobPlacement,
    private readonly spans: RequestSpans,
    private readonly classes: CallClasses,
  ) {}

  /** The jobs of a request, one per sequence. Their streams are opened before any others. */
  make(admission: PlannedRequest, head: AnswerHead): EngineJob[] {
    const { call, plans, routes } = admission;
    const context = this.contextOf(admission, head);
    const streamIds = this.table.nextIds(routes.length);
    return routes.map((route, index) => {
      const planned = { index, streamId: streamIds[index]!, plan: plans[index]!, route };
      const job = this.jobOf(context, planned);
      return this.placement.isOn ? this.placement.place(job, call) : job;
    });
  }

  private contextOf(admission: PlannedRequest, head: AnswerHead): JobContext {
    const { call, checked, charge, faults } = admission;
    const { request, isExecuted } = checked;
    return {
      request,
      baseId: baseIdOf(head.id),
      salt: cacheSalt(request),
      arrivalUs: call.arrivalUs,
      causeUs: charge?.passedUs ?? call.arrivalUs,
      adapter: this.catalog.adapterOf(request.model, call.tenant),
      traceparent: this.spans.isOn ? this.spans.begin(call, head, request) : undefined,
      executes: isExecuted === true,
      priority: this.classes.priorityOf(call, request.priority),
      faults: faults.filter(isForEngines),
    };
  }

  private jobOf(context: JobContext, { index, streamId, plan, route }: PlannedSequence): EngineJob {
    const { request, arrivalUs, causeUs, adapter, traceparent, executes, priority, faults } =
      context;
    const prompt = request.prompts[Math.floor(index / request.choices)];
    const promptIds = prompt?.ids ?? new Int32Array(0);
    return {
      requestId: `${context.baseId}-${index}`,
      submission: 1,
      apiId: this.identity.apiId,
      streamId,
      causeUs: route.causeUs ?? causeUs,
      arrivalUs,
      promptTokens: promptIds.length,
      outputTokens: plan.count,
      endReason: plan.endReason,
      maxTokens: prompt?.maxTokens ?? plan.count,
      priority,
      flow: route.flow,
      ...this.contentOf(promptIds, plan.tokenIds, context),
      ...(request.engineParameters && { engineParameters: request.engineParameters }),
      ...(adapter === undefined ? {} : { adapter }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(executes ? { executes } : {}),
      ...(route.kvTransferParams === undefined ? {} : kvOf(route, this.config)),
      ...(route.engineId === undefined ? {} : { engineId: route.engineId }),
      ...(route.placed === undefined ? {} : { placed: route.placed }),
      ...(faults.length === 0 ? {} : { faults }),
    };
  }

  private contentOf(
    promptIds: Int32Array,
    outputIds: Int32Array,
    { request, salt }: JobContext,
  ): Pick<EngineJob, 'blockHashes' | 'tokenIds'> {
    const { config } = this;
    // Log-probabilities of a prompt require its computation, so such a request reads no prefix
    // cache.
    if (!config.enablePrefixCaching || request.promptLogprobs !== undefined) {
      return { blockHashes: [] };
    }
    const ids = new Int32Array(promptIds.length + outputIds.length);
    ids.set(promptIds);
    ids.set(outputIds, promptIds.length);
    const blockHashes = chainBlockHashes(ids, config.blockSize, salt);
    if (config.kvEventsEndpoint === undefined) return { blockHashes };
    return { blockHashes, tokenIds: Array.from(ids) };
  }
}

/**
 * Both legs of an outside router carry the same X-Request-Id, so the internal id gets a random
 * part, as in vLLM.
 */
function baseIdOf(answerId: string): string {
  const own = randomUUID().slice(0, 8);
  return `${answerId.replace(UNSAFE, '_').slice(0, MAX_ID_LENGTH)}-${own}`;
}

/** The other faults strike in the front. */
function isForEngines({ stage }: Fault): boolean {
  return stage !== 'queue' && stage !== 'stream';
}

function kvOf(
  { flow, kvTransferParams, mayKeep }: Route,
  { bidirectionalKvXfer }: BatonConfig,
): Pick<EngineJob, 'kvTransferParams' | 'keepsKv'> {
  if (kvTransferParams === undefined || (flow === 'hold' && !bidirectionalKvXfer)) return {};
  return {
    kvTransferParams,
    ...(bidirectionalKvXfer && mayKeep === true ? { keepsKv: true } : {}),
  };
}
