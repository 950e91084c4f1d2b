import type { BatonConfig } from '@baton/config';
import { VERSION } from '@baton/kernel';
import {
  type AnswerOptions,
  type ModelCard,
  type PlanContext,
  type RequestLimits,
  systemFingerprint,
} from '@baton/openai';
import { Inject, Injectable } from '@nestjs/common';
import { KvCapacity } from './kv-capacity';
import { fixedLimits, maxModelLenOf, planContext, servedName } from '../request/plan/model-context';
import { TextSetup } from '../request/plan/text-setup';
import { API_IDENTITY, type ApiIdentity, CONFIG } from '../tokens';
import { AdapterRegistry } from './adapters/adapter-registry';

/** What is served, and the limits that requests are checked against. */
@Injectable()
export class ModelCatalog {
  /** What answers depend on besides the request. */
  readonly plans: PlanContext;
  readonly systemFingerprint: string;
  readonly answerOptions: AnswerOptions;
  readonly maxModelLen: number;
  readonly version: string;
  private readonly name: string;
  private readonly fixed: RequestLimits;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    private readonly capacity: KvCapacity,
    private readonly adapters: AdapterRegistry,
    text: TextSetup,
  ) {
    const { dialect } = config;
    const { tokenizer, model } = text.parts;
    this.name = servedName(config);
    this.maxModelLen = maxModelLenOf(config);
    this.version = config.reportedVersion ?? VERSION;
    this.answerOptions = { dialect, tokenizer };
    this.systemFingerprint = systemFingerprint(dialect, this.version, config.model);
    this.fixed = fixedLimits(config, text.parts, model !== undefined);
    this.plans = planContext(config, text.parts);
  }

  /**
   * With the adapters that are loaded, and the KV capacity that the engines have announced by now.
   */
  get limits(): RequestLimits {
    const kvCapacityTokens = this.capacity.largestTokens;
    const { names } = this.adapters;
    return {
      ...this.fixed,
      ...(names.length === 0 ? {} : { models: [this.name, ...names] }),
      ...(kvCapacityTokens === undefined ? {} : { kvCapacityTokens }),
    };
  }

  /** The LoRA adapter that is asked for under this name; undefined: the base model. */
  adapterOf(model: string): string | undefined {
    return model === this.name ? undefined : this.adapters.find(model)?.name;
  }

  cards(): ModelCard[] {
    return [
      {
        id: this.name,
        root: this.config.model,
        created: this.identity.startedAt,
        maxModelLen: this.maxModelLen,
      },
      ...this.adapters.all().map(({ name, path }) => ({
        id: name,
        root: path,
        parent: this.name,
        created: this.identity.startedAt,
        maxModelLen: null,
      })),
    ];
  }

  find(id: string): ModelCard | undefined {
    return this.cards().find((card) => card.id === id);
  }
}
