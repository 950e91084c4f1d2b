import { randomUUID } from 'node:crypto';
import type { BatonConfig } from '@baton/config';
import type { EngineJob } from '@baton/contract';
import { chainBlockHashes, hashString, mix } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import type { Route } from '../route/route';

/** Characters that every broker takes in a key; the others of a client's id become `_`. */
const UNSAFE = /[^A-Za-z0-9._-]/g;
const MAX_ID_LENGTH = 120;

/** What the jobs of one request have in common. */
export interface JobContext {
  readonly request: GenerationRequest;
  /** The answer's id, which the internal ids begin with. */
  readonly answerId: string;
  readonly arrivalUs: number;
  readonly apiId: string;
  readonly config: BatonConfig;
  /** Of the LoRA adapter that the request names; undefined: the base model. */
  readonly adapter: string | undefined;
  /** W3C trace context of the request's span; undefined: nothing is traced. */
  readonly traceparent: string | undefined;
  /** A server answers. */
  readonly executes: boolean;
  /** Lower runs first. */
  readonly priority: number;
}

/** Turns planned sequences into jobs: lengths and block hashes, no text. */
export class JobFactory {
  private readonly baseId: string;
  private readonly salt: number;

  constructor(private readonly context: JobContext) {
    const { answerId, request } = context;
    // Both legs of an outside router carry the same X-Request-Id, so the internal id needs something of its own, as vLLM's has.
    const own = randomUUID().slice(0, 8);
    this.baseId = `${answerId.replace(UNSAFE, '_').slice(0, MAX_ID_LENGTH)}-${own}`;
    this.salt = cacheSalt(request);
  }

  job(index: number, streamId: number, { plan, route }: PlannedSequence): EngineJob {
    const { request, arrivalUs, apiId, adapter, traceparent, executes, priority } = this.context;
    const prompt = request.prompts[Math.floor(index / request.choices)];
    const promptIds = prompt?.ids ?? new Int32Array(0);
    return {
      requestId: `${this.baseId}-${index}`,
      submission: 1,
      apiId,
      streamId,
      causeUs: route.causeUs ?? arrivalUs,
      arrivalUs,
      promptTokens: promptIds.length,
      ...this.content(promptIds, plan.tokenIds),
      outputTokens: plan.count,
      endReason: plan.endReason,
      maxTokens: prompt?.maxTokens ?? plan.count,
      priority,
      ...(request.engineParameters && { engineParameters: request.engineParameters }),
      ...(adapter === undefined ? {} : { adapter }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(executes ? { executes } : {}),
      flow: route.flow,
      ...kvOf(route, this.context.config),
      ...(route.engineId === undefined ? {} : { engineId: route.engineId }),
      ...(route.placed === undefined ? {} : { placed: route.placed }),
    };
  }

  private content(
    promptIds: Int32Array,
    outputIds: Int32Array,
  ): Pick<EngineJob, 'blockHashes' | 'tokenIds'> {
    const { config, request } = this.context;
    // Log-probabilities of the prompt need it computed, so such a request does not read the prefix cache.
    if (!config.enablePrefixCaching || request.promptLogprobs !== undefined) {
      return { blockHashes: [] };
    }
    const ids = new Int32Array(promptIds.length + outputIds.length);
    ids.set(promptIds);
    ids.set(outputIds, promptIds.length);
    const blockHashes = chainBlockHashes(ids, config.blockSize, this.salt);
    if (config.kvEventsEndpoint === undefined) return { blockHashes };
    return { blockHashes, tokenIds: Array.from(ids) };
  }
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

/** Separates the prefixes of requests that must not share KV. */
export function cacheSalt({ model, cacheSalt: own }: GenerationRequest): number {
  return mix(hashString(model), hashString(own ?? ''));
}

export interface PlannedSequence {
  readonly plan: OutputPlan;
  readonly route: Route;
}
