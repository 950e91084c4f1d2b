import type { BatonConfig } from '@baton/config';
import { BatonError, type Stage } from '@baton/contract';
import { chainBlockHashes } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import { missesSlo, retryAfterSeconds } from '@baton/placement';
import type { JobRouting, PromptFacts } from '@baton/routing';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, ROUTING } from '../../tokens';
import { cacheSalt, type Route } from '../route/route';
import { AdmissionGate } from './admission-gate';

const US_PER_SECOND = 1_000_000;

/**
 * Refuses requests whose first token would come later than `admission_slo_ttft`, so that they do
 * not delay those that can still be in time.
 */
@Injectable()
export class SloGate {
  readonly isOn: boolean;
  private readonly sloUs: number;
  private readonly usPerSecond: number;
  private totals: Readonly<Record<Stage, number>>;
  /** Prompts admitted since the totals were read. */
  private admitted = 0;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(ROUTING) private readonly routing: JobRouting,
    private readonly gate: AdmissionGate,
  ) {
    this.sloUs = (config.admissionSloTtft ?? Infinity) * 1_000;
    this.usPerSecond = US_PER_SECOND * config.speedup;
    this.isOn = this.sloUs !== Infinity;
    this.totals = gate.waiting();
  }

  /**
   * Checks prompts for which the cluster chooses the engine.
   *
   * @throws BatonError `slo_unattainable`
   */
  refuseLate(request: GenerationRequest, [first]: readonly Route[]): void {
    if (!first || first.flow === 'attach' || first.engineId !== undefined) return;
    const { blockSize, enablePrefixCaching } = this.config;
    const salt = cacheSalt(request);
    for (const { ids } of request.prompts) {
      const blockHashes = enablePrefixCaching ? chainBlockHashes(ids, blockSize, salt) : [];
      this.check(first.stage, { promptTokens: ids.length, blockHashes });
    }
  }

  /** `stage`: where the prompt is computed. */
  private check(stage: Stage, prompt: PromptFacts): void {
    const predictedUs = this.routing.predictTtftUs(stage, prompt, this.waitingIn(stage)) ?? 0;
    if (!missesSlo(predictedUs, this.sloUs)) {
      this.admitted += 1;
      return;
    }
    // The excess drains at one simulated second per second.
    const seconds = retryAfterSeconds(predictedUs - this.sloUs, this.usPerSecond);
    throw new BatonError('slo_unattainable', undefined, null, seconds);
  }

  private waitingIn(stage: Stage): number {
    const totals = this.gate.waiting();
    if (totals !== this.totals) {
      this.totals = totals;
      this.admitted = 0;
    }
    return totals[stage] + this.admitted;
  }
}
