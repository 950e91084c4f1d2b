import { type ServedNames, servedNamesOf } from '@baton/config';
import { VERSION } from '@baton/kernel';
import {
  type AnswerOptions,
  type ModelCard,
  type PlanContext,
  type RequestLimits,
  systemFingerprint,
} from '@baton/openai';
import { Injectable } from '@nestjs/common';
import { KvCapacity } from './kv-capacity';
import { fixedLimits, maxModelLenOf, planContext } from '../request/plan/model-context';
import { TextSetup } from '../request/plan/text-setup';
import type { Tenant } from '../http/request-context';
import { ApiIdentity, Config } from '../tokens';
import { AdapterRegistry } from './adapters/adapter-registry';

const NO_NAMES: readonly string[] = [];

/** The served models and adapters, and the limits that requests are checked against. */
@Injectable()
export class ModelCatalog {
  /** The state besides the request on which an answer depends. */
  readonly plans: PlanContext;
  readonly systemFingerprint: string;
  readonly answerOptions: AnswerOptions;
  readonly maxModelLen: number;
  readonly version: string;
  private readonly names: ServedNames;
  private readonly fixed: RequestLimits;

  constructor(
    private readonly config: Config,
    private readonly identity: ApiIdentity,
    private readonly capacity: KvCapacity,
    private readonly adapters: AdapterRegistry,
    text: TextSetup,
  ) {
    const { dialect } = config;
    const { tokenizer, model } = text.parts;
    this.names = servedNamesOf(config);
    this.maxModelLen = maxModelLenOf(config);
    this.version = config.reportedVersion ?? VERSION;
    this.answerOptions = { dialect, tokenizer };
    this.systemFingerprint = systemFingerprint(dialect, this.version, config.model);
    this.fixed = fixedLimits(config, text.parts, model !== undefined);
    this.plans = planContext(config, text.parts);
  }

  /** Includes the adapters that the tenant may use and the KV capacity announced so far. */
  limitsOf(tenant: Tenant): RequestLimits {
    const kvCapacityTokens = this.capacity.largestTokens;
    const names = this.adapters.isOn ? this.adapters.of(tenant).names : NO_NAMES;
    return {
      ...this.fixed,
      ...(names.length === 0 ? {} : { models: [...this.names, ...names] }),
      ...(kvCapacityTokens === undefined ? {} : { kvCapacityTokens }),
    };
  }

  /** The LoRA adapter of this name; undefined for the base model. */
  adapterOf(model: string, tenant: Tenant): string | undefined {
    return this.names.includes(model) ? undefined : this.adapters.find(model, tenant)?.name;
  }

  cards(tenant: Tenant): ModelCard[] {
    return [
      ...this.names.map((id) => ({
        id,
        root: this.config.model,
        created: this.identity.startedAt,
        maxModelLen: this.maxModelLen,
      })),
      ...this.adapters.all(tenant).map(({ name, path }) => ({
        id: name,
        root: path,
        parent: this.names[0],
        created: this.identity.startedAt,
        maxModelLen: null,
      })),
    ];
  }

  find(id: string, tenant: Tenant): ModelCard | undefined {
    return this.cards(tenant).find((card) => card.id === id);
  }
}
