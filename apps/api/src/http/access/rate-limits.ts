import type { IncomingMessage, ServerResponse } from 'node:http';
import { readApiKeys } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import type { BudgetAnswer, BudgetTake } from '@baton/transport';
import { Injectable } from '@nestjs/common';
import { brokerError } from '../broker-error';
import { Config, Broker } from '../../tokens';
import type { Tenant } from '../request-context';
import { resetTime } from './reset-time';

/** Limits per minute; undefined means no limit. */
interface Limits {
  readonly requests: number | undefined;
  readonly tokens: number | undefined;
}

type BudgetName = keyof Limits;

/** All callers without a known key share the budget of this name. */
export const ANYONE = 'anyone';

/** Requests by this method count when they arrive. */
export const COUNTED = 'POST';

/** Fields by which a body limits its output, the newest name first. */
const OUTPUT_LIMITS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens'];

/** A request's tokens, taken before they are used. */
export interface Charge {
  /** Time at which flow control released the waiting request, µs since the Unix epoch. */
  readonly passedUs?: number | undefined;
  /** Corrects the taken amount to the used amount. Call it once. */
  settle(usedTokens: number): void;
}

/** The parts of a call that a charge depends on. */
export interface Chargeable {
  readonly tenant: Tenant;
  readonly body: unknown;
  readonly message: Pick<IncomingMessage, 'method'>;
  readonly response: ServerResponse;
}

/**
 * Limits of each tenant: requests and tokens per minute, kept in the broker, so that all API
 * processes count together. A request counts when its body has arrived, whatever its outcome.
 * Tokens are taken before anything is queued: the prompt's, plus the output that the request itself
 * allows. The actual use is settled at the end and may leave a debt. Every answer of a handler has
 * the remaining budget in its headers.
 */
@Injectable()
export class RateLimits {
  /** True when a limit is set. */
  readonly isOn: boolean;
  private readonly common: Limits;
  private readonly own: ReadonlyMap<string, Limits>;

  constructor(
    config: Config,
    private readonly transport: Broker,
  ) {
    this.common = {
      requests: config.limitRequestsPerMinute,
      tokens: config.limitTokensPerMinute,
    };
    const rows = Object.entries(config.apiKeyLimits ?? {});
    // A row starts with a key or with the name of a tenant.
    const tenants = new Map(readApiKeys(config).map(({ key, tenant }) => [key, tenant]));
    this.own = new Map(
      rows.map(([key, row]): [string, Limits] => [
        tenants.get(key) ?? key,
        {
          requests: row['limit_requests_per_minute'] ?? this.common.requests,
          tokens: row['limit_tokens_per_minute'] ?? this.common.tokens,
        },
      ]),
    );
    this.isOn = [this.common, ...this.own.values()].some(
      ({ requests, tokens }) => requests !== undefined || tokens !== undefined,
    );
  }

  /**
   * Admits a request; one that is not `counted` only gets the remaining budget in its headers.
   *
   * @throws BatonError `request_rate_exceeded`, `token_rate_exceeded`
   */
  async enter(owner: string, response: ServerResponse, isCounted: boolean): Promise<void> {
    const takes = this.takesOf(owner, { requests: isCounted ? 1 : 0, tokens: 0 });
    if (takes.length === 0) return;
    let answer: BudgetAnswer;
    try {
      answer = await this.transport.rates.take(owner, takes);
    } catch (error) {
      if (isCounted) throw brokerError(error);
      return;
    }
    writeHeaders(response, takes, answer);
    if (isCounted) refuse(takes, answer);
  }

  /**
   * Takes the tokens of a checked request, and also the request itself when it was not counted on
   * arrival (a turn over a WebSocket). Undefined when its tokens are not counted.
   *
   * @throws BatonError `request_rate_exceeded`, `token_rate_exceeded`
   */
  async charge(call: Chargeable, request: GenerationRequest): Promise<Charge | undefined> {
    const owner = call.tenant ?? ANYONE;
    const expected = expectedTokens(call.body, request);
    const isCounted = call.message.method === COUNTED;
    const takes = this.takesOf(owner, { tokens: expected, ...(isCounted ? {} : { requests: 1 }) });
    if (takes.length === 0) return undefined;
    const answer = await this.transport.rates.take(owner, takes).catch((error: unknown) => {
      throw brokerError(error);
    });
    writeHeaders(call.response, takes, answer);
    refuse(takes, answer);
    const paid = takes.find(({ budget }) => budget === 'tokens');
    return paid && this.chargeOf(owner, paid);
  }

  private chargeOf(owner: string, take: BudgetTake): Charge {
    let isSettled = false;
    const settle = (usedTokens: number): void => {
      if (isSettled || usedTokens === take.amount) return;
      isSettled = true;
      const correction = { ...take, amount: usedTokens - take.amount };
      // Errors are ignored: an unavailable broker has lost the budget, or the budget refills soon.
      void this.transport.rates.settle(owner, correction).catch(() => undefined);
    };
    return { settle };
  }

  private takesOf(
    owner: string,
    amounts: Readonly<Partial<Record<BudgetName, number>>>,
  ): BudgetTake[] {
    const limits = this.own.get(owner) ?? this.common;
    return (['requests', 'tokens'] as const).flatMap((budget) => {
      const [limit, amount] = [limits[budget], amounts[budget]];
      return limit === undefined || amount === undefined ? [] : [{ budget, limit, amount }];
    });
  }
}

/**
 * Prompt tokens plus the output that the body allows; without such a limit the output is counted at
 * the end.
 */
function expectedTokens(body: unknown, request: GenerationRequest): number {
  const named = namedOutput(body);
  return request.prompts.reduce((sum, { ids, maxTokens }) => {
    const output = named === undefined ? 0 : Math.min(named, maxTokens) * request.choices;
    return sum + ids.length + output;
  }, 0);
}

function namedOutput(body: unknown): number | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(body));
  const limits = OUTPUT_LIMITS.map((name) => fields.get(name));
  return limits.find((limit): limit is number => typeof limit === 'number');
}

/** OpenAI's six headers, for the limits that are set. */
function writeHeaders(
  response: ServerResponse,
  takes: readonly BudgetTake[],
  answer: BudgetAnswer,
): void {
  if (response.headersSent) return;
  takes.forEach(({ budget, limit }, i) => {
    const state = answer.states[i];
    if (state === undefined) return;
    response.setHeader(`x-ratelimit-limit-${budget}`, String(limit));
    response.setHeader(`x-ratelimit-remaining-${budget}`, String(state.remaining));
    response.setHeader(`x-ratelimit-reset-${budget}`, resetTime(state.fullInMs));
  });
}

function refuse(takes: readonly BudgetTake[], { isTaken, states }: BudgetAnswer): void {
  if (isTaken) return;
  const shortages = takes.map(({ budget, limit, amount }, i) => {
    const { remaining = 0, fullInMs = 0 } = states[i] ?? {};
    // Largest deficit at which the amount is still available.
    const waitMs = fullInMs - ((limit - amount) * MINUTE_MS) / limit;
    return { budget, limit, amount, used: limit - remaining, waitMs };
  });
  const worst = shortages.reduce((a, b) => (b.waitMs > a.waitMs ? b : a));
  const { budget, limit, amount, used, waitMs } = worst;
  const code = budget === 'requests' ? 'request_rate_exceeded' : 'token_rate_exceeded';
  if (amount > limit) {
    const message =
      `Request too large on ${budget} per minute: limit ${limit}, requested ${amount}. ` +
      'Shorten the prompt or max_tokens.';
    throw new BatonError(code, message);
  }
  const message =
    `Rate limit reached on ${budget} per minute: limit ${limit}, used ${used}, ` +
    'requested ' +
    `${amount}. Please try again in ${resetTime(waitMs)}.`;
  throw new BatonError(code, message, null, waitMs / 1_000);
}

const MINUTE_MS = 60_000;
