import { setTimeout as wait } from 'node:timers/promises';
import { faultSettings, LiveSettings } from '@baton/config';
import { type Fault, FaultBook, InjectedError, isDue } from '@baton/contract';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DetachedResponse } from '../../http/detached-response';
import { FaultMetrics } from '../../observers/metrics/fault-metrics';
import { Config } from '../../tokens';
import type { Answer } from '../answer/answer';
import type { Call } from '../take/call';
import { FaultyAnswer, type FaultyAnswerParts } from './faulty-answer';

const US_PER_MS = 1_000;

/**
 * Injects faults in this API process: chooses the faults of each request once, carries out faults
 * at the queue, and wraps the answer with its faults. Faults at engines travel with the jobs;
 * engines report each one that they carry out.
 */
@Injectable()
export class FaultInjector implements OnModuleInit {
  private readonly book: FaultBook;
  /** True when a rule or a failure rate is set. */
  hasRules = false;

  constructor(
    private readonly config: Config,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
    private readonly metrics: FaultMetrics,
  ) {
    this.book = new FaultBook({ seed: config.seed, speedup: config.speedup });
  }

  onModuleInit(): void {
    this.settings.follow((settings) => {
      const faults = faultSettings(settings);
      this.hasRules = faults.rules.length > 0 || faults.failureInjectionRate > 0;
      this.book.replace(faults);
    });
  }

  /** Chooses the faults of this request. Throws `BatonError` for an invalid header. */
  judge({ response }: Call, model: string): readonly Fault[] {
    const { headers } = response.req;
    const header = (name: string): string | undefined => {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value[0] : value;
    };
    const faults = this.book.judge({ model, header, nowUs: nowUs() });
    return response instanceof DetachedResponse ? faults.filter(needsNoConnection) : faults;
  }

  /**
   * Call it before the request is queued. Resolves false when the client has been cut off; throws
   * the client's error.
   */
  async atQueue(faults: readonly Fault[], { response, takeOver }: Call): Promise<boolean> {
    for (const { action, stage } of faults) {
      if (stage !== 'queue') continue;
      this.metrics.count(action.kind, stage);
      if (action.kind === 'delay') await wait(this.wallMs(action.delayUs));
      if (action.kind === 'error') throw new InjectedError(action);
      if (action.kind !== 'cut') continue;
      takeOver();
      response.destroy();
      return false;
    }
    return true;
  }

  /** The answer wrapped with its faults, if it has any. */
  around(answer: Answer, faults: readonly Fault[], parts: FaultyAnswerParts): Answer {
    const own = faults.filter(({ stage }) => stage === 'stream');
    if (own.length === 0) return answer;
    return new FaultyAnswer(answer, own, {
      ...parts,
      isDue: (fault) => isDue(fault, nowUs()),
      count: ({ action, stage }) => this.metrics.count(action.kind, stage),
      wallMs: (us) => this.wallMs(us),
    });
  }

  /** Simulated µs on the wall clock. */
  private wallMs(us: number): number {
    return us / US_PER_MS / this.config.speedup;
  }
}

/** A background answer, or one on a WebSocket, has no connection of its own to cut. */
function needsNoConnection({ action }: Fault): boolean {
  return action.kind !== 'cut' && action.kind !== 'malformed-frame';
}

function nowUs(): number {
  return (performance.timeOrigin + performance.now()) * US_PER_MS;
}
