import {
  FAULT_STAGES,
  type FaultKind,
  type FaultNote,
  type FaultStage,
  KINDS,
} from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import type { RequestObserver } from '../port/port';

/** Counts how often each fault struck requests of this process, in the front or at an engine. */
@Injectable()
export class FaultMetrics implements RequestObserver {
  private readonly injected: Counter<'fault' | 'stage'>;

  /** Shows every fault at every stage where it may happen, as 0. */
  constructor(registry: Registry) {
    this.injected = new Counter({
      name: 'baton:faults_injected_total',
      help: 'Faults carried out on purpose, by what was done and at which stage.',
      labelNames: ['fault', 'stage'],
      registers: [registry],
    });
    for (const stage of FAULT_STAGES) {
      for (const fault of Object.keys(KINDS) as FaultKind[]) {
        if (KINDS[fault].stages.includes(stage)) this.injected.inc({ fault, stage }, 0);
      }
    }
  }

  faulted({ fault, stage }: FaultNote): void {
    this.count(fault, stage);
  }

  count(fault: FaultKind, stage: FaultStage): void {
    this.injected.inc({ fault, stage });
  }
}
