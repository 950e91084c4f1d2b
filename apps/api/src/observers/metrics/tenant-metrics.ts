import { type BatonConfig, needsApiKey, readApiKeys } from '@baton/config';
import { type MetricSeries, renderNumbers } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { Tenant } from '../../http/request-context';
import { CONFIG } from '../../tokens';
import type {
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestEnd,
  RequestObserver,
} from '../port/port';

/**
 * Limit of tenants with their own series, so that a scrape stays small; the first in the list get
 * one.
 */
const MOST_TENANTS = 100;
/** The label of all further tenants, and of requests without a key where none is required. */
const OTHERS = 'other';

const REQUESTS = {
  name: 'baton:tenant_requests_total',
  help: 'Requests of a tenant by outcome: answered, refused before they were queued, or failed.',
};
const TOKENS = {
  name: 'baton:tenant_tokens_total',
  help: 'Tokens of requests of a tenant that have ended, of prompts and of output.',
};

class Counts {
  answered = 0;
  refused = 0;
  failed = 0;
  prompt = 0;
  output = 0;
}

/**
 * Counts the requests and tokens of each tenant in this process. It is off where no key is needed.
 */
@Injectable()
export class TenantMetrics implements RequestObserver {
  readonly isOn: boolean;
  private readonly counts: ReadonlyMap<string, Counts>;
  private readonly others = new Counts();

  constructor(@Inject(CONFIG) config: BatonConfig) {
    this.isOn = needsApiKey(config);
    const tenants = new Set(readApiKeys(config).map(({ tenant }) => tenant));
    const shown = [...tenants].slice(0, MOST_TENANTS);
    this.counts = new Map(shown.map((tenant) => [tenant, new Counts()]));
  }

  refused({ tenant }: ObservedCall): void {
    this.of(tenant).refused += 1;
  }

  ended({ job, received }: ObservedSequence, _end: unknown, { call }: ObservedRequest): void {
    const counts = this.of(call.tenant);
    counts.prompt += job.promptTokens;
    counts.output += received;
  }

  closed({ call }: ObservedRequest, { reason }: RequestEnd): void {
    const counts = this.of(call.tenant);
    if (reason === 'error' || reason === 'abort') counts.failed += 1;
    else counts.answered += 1;
  }

  render(): string {
    if (!this.isOn) return '';
    const all = [...this.counts, [OTHERS, this.others] as const];
    const series = (
      label: string,
      kinds: readonly (keyof Counts)[],
    ): readonly MetricSeries<number>[] =>
      all.flatMap(([tenant, counts]) =>
        kinds.map((kind) => ({ labels: { tenant, [label]: kind }, value: counts[kind] })),
      );
    return [
      renderNumbers(REQUESTS, 'counter', series('outcome', ['answered', 'refused', 'failed'])),
      renderNumbers(TOKENS, 'counter', series('kind', ['prompt', 'output'])),
    ].join('');
  }

  private of(tenant: Tenant): Counts {
    return (tenant === undefined ? undefined : this.counts.get(tenant)) ?? this.others;
  }
}
