import { findModel } from '@baton/hardware';
import {
  type AnswerOptions,
  type ModelCard,
  type RequestLimits,
  systemFingerprint,
} from '@baton/openai';
import { type BatonConfig, VERSION } from '@baton/runtime';
import { defaultTokenizer, type LengthModel } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import { KvCapacity } from '../generation/kv-capacity';
import { lengthModelOf } from '../generation/length-model';
import { API_IDENTITY, type ApiIdentity, CONFIG } from '../tokens';

/** What is served, and what a request for it is checked against. */
@Injectable()
export class ModelCatalog {
  readonly lengthModel: LengthModel;
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
  ) {
    const tokenizer = defaultTokenizer();
    const { dialect } = config;
    this.name = config.servedModelName ?? config.model;
    this.maxModelLen = config.maxModelLen ?? findModel(config.model).maxContext;
    this.version = config.reportedVersion ?? VERSION;
    this.lengthModel = lengthModelOf(config);
    this.answerOptions = { dialect, tokenizer };
    this.systemFingerprint = systemFingerprint(dialect, this.version, config.model);
    this.fixed = { dialect, tokenizer, models: [this.name], maxModelLen: this.maxModelLen };
  }

  /** With the KV capacity that the engines have announced by now. */
  get limits(): RequestLimits {
    const kvCapacityTokens = this.capacity.largestTokens;
    return kvCapacityTokens === undefined ? this.fixed : { ...this.fixed, kvCapacityTokens };
  }

  cards(): ModelCard[] {
    return [
      {
        id: this.name,
        root: this.config.model,
        created: this.identity.startedAt,
        maxModelLen: this.maxModelLen,
      },
    ];
  }

  find(id: string): ModelCard | undefined {
    return this.cards().find((card) => card.id === id);
  }
}
