import {
  FAULT_STAGES,
  type FaultKind,
  type FaultNote,
  type FaultStage,
  KINDS,
} from '@baton/contract';
import { renderNumbers } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import type { RequestObserver } from '../port/port';

const HEAD = {
  name: 'baton:faults_injected_total',
  help: 'Faults carried out on purpose, by what was done and at which stage.',
};

/** Counts how often each fault struck requests of this process, in the front or at an engine. */
@Injectable()
export class FaultMetrics implements RequestObserver {
  private readonly counts = new Map<string, number>();

  faulted({ fault, stage }: FaultNote): void {
    this.count(fault, stage);
  }

  count(fault: FaultKind, stage: FaultStage): void {
    const key = keyOf(fault, stage);
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  /** Renders every fault at every stage where it may happen, including those with 0. */
  render(): string {
    const series = FAULT_STAGES.flatMap((stage) =>
      (Object.keys(KINDS) as FaultKind[])
        .filter((fault) => KINDS[fault].stages.includes(stage))
        .map((fault) => ({
          labels: { fault, stage },
          value: this.counts.get(keyOf(fault, stage)) ?? 0,
        })),
    );
    return renderNumbers(HEAD, 'counter', series);
  }
}

function keyOf(fault: FaultKind, stage: FaultStage): string {
  return `${fault}@${stage}`;
}
