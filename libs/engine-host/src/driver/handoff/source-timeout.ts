import type { EnginePresence } from '@baton/contract';
import type { Transport } from '@baton/transport';
import type { DriverOptions } from '../options';

export interface SourceTimeoutParts {
  readonly options: Pick<DriverOptions, 'kvReadTimeoutUs'>;
  readonly transport: Pick<Transport, 'processClock'>;
}

/**
 * Decides how many further reads a source gets that has not answered: more when the source or this
 * process was late.
 */
export class SourceTimeout {
  private latenessMs: ReadonlyMap<string, number> = new Map();

  constructor(private readonly parts: SourceTimeoutParts) {}

  onLiving(engines: readonly EnginePresence[]): void {
    this.latenessMs = new Map(
      engines.map(({ engineId, gauges }) => [engineId, gauges.latenessMs ?? 0]),
    );
  }

  /** Whether the source may be late after `tries` reads. */
  mayBeLate(engineId: string, tries: number): boolean {
    const sourceMs = this.latenessMs.get(engineId);
    if (sourceMs === undefined) return false;
    const { options, transport } = this.parts;
    return tries < 1 + transport.processClock.moreTries(sourceMs, options.kvReadTimeoutUs / 1_000);
  }
}
