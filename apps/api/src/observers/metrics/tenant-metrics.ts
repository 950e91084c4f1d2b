import { needsApiKey, readApiKeys } from '@baton/config';
import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import type { Tenant } from '../../http/request-context';
import { Config } from '../../tokens';
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

const OUTCOMES = ['answered', 'refused', 'failed'] as const;
const KINDS = ['prompt', 'output'] as const;

/**
 * Counts the requests and tokens of each tenant in this process. It is off where no key is needed.
 */
@Injectable()
export class TenantMetrics implements RequestObserver {
  readonly isOn: boolean;
  private readonly shown: ReadonlySet<string>;
  private readonly requests: Counter<'tenant' | 'outcome'>;
  private readonly tokenCounts: Counter<'tenant' | 'kind'>;

  constructor(config: Config, registry: Registry) {
    this.isOn = needsApiKey(config);
    const tenants = new Set(readApiKeys(config).map(({ tenant }) => tenant));
    this.shown = new Set([...tenants].slice(0, MOST_TENANTS));
    const registers = this.isOn ? [registry] : [];
    this.requests = new Counter({
      name: 'baton:tenant_requests_total',
      help: 'Requests of a tenant by outcome: answered, refused before they were queued, or failed.',
      labelNames: ['tenant', 'outcome'],
      registers,
    });
    this.tokenCounts = new Counter({
      name: 'baton:tenant_tokens_total',
      help: 'Tokens of requests of a tenant that have ended, of prompts and of output.',
      labelNames: ['tenant', 'kind'],
      registers,
    });
    for (const tenant of [...this.shown, OTHERS]) {
      for (const outcome of OUTCOMES) this.requests.inc({ tenant, outcome }, 0);
      for (const kind of KINDS) this.tokenCounts.inc({ tenant, kind }, 0);
    }
  }

  refused({ tenant }: ObservedCall): void {
    this.requests.inc({ tenant: this.labelOf(tenant), outcome: 'refused' });
  }

  ended({ job, received }: ObservedSequence, _end: unknown, { call }: ObservedRequest): void {
    const tenant = this.labelOf(call.tenant);
    this.tokenCounts.inc({ tenant, kind: 'prompt' }, job.promptTokens);
    this.tokenCounts.inc({ tenant, kind: 'output' }, received);
  }

  closed({ call }: ObservedRequest, { reason }: RequestEnd): void {
    const outcome = reason === 'error' || reason === 'abort' ? 'failed' : 'answered';
    this.requests.inc({ tenant: this.labelOf(call.tenant), outcome });
  }

  private labelOf(tenant: Tenant): string {
    return tenant !== undefined && this.shown.has(tenant) ? tenant : OTHERS;
  }
}
