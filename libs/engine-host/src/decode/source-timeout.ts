import { Injectable } from '@nestjs/common';
import { Broker, HostOptions } from '../run/tokens';
import type { EnginePresence } from '@baton/contract';

/** A late source gets three times its lateness to answer, and at most 30 more reads. */
const TRIES_MARGIN = 3;
const MAX_MORE_TRIES = 30;

/**
 * Decides how many further reads a source gets that has not answered: more when the source or this
 * process was late.
 */
@Injectable()
export class SourceTimeout {
  private latenessMs: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly options: HostOptions,
    private readonly transport: Broker,
  ) {}

  onLiving(engines: readonly EnginePresence[]): void {
    this.latenessMs = new Map(
      engines.map(({ engineId, gauges }) => [engineId, gauges.latenessMs ?? 0]),
    );
  }

  /** Whether the source may be late after `tries` reads. */
  mayBeLate(engineId: string, tries: number): boolean {
    const sourceMs = this.latenessMs.get(engineId);
    if (sourceMs === undefined) return false;
    const { options, transport } = this;
    const lateUs = 1_000 * (sourceMs + transport.processClock.latenessMs());
    return tries < 1 + Math.min(MAX_MORE_TRIES, (TRIES_MARGIN * lateUs) / options.kvReadTimeoutUs);
  }
}
