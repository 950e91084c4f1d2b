import type { LifeEvent, RunRecord } from '@baton/analysis';
import type { PictureEngine } from '@baton/contract';
import type { Micros } from '@baton/kernel';

/** The engines of a run in the form of pictures, at ascending instants. */
export class EnginesOverTime {
  private readonly states: (LifeEvent['state'] | undefined)[];
  private next = 0;

  constructor(private readonly run: RunRecord) {
    this.states = run.engines.map(() => undefined);
  }

  /** The present engines; `of` is the index of the engine in the run. */
  at(atUs: Micros): { readonly of: number; readonly engine: PictureEngine }[] {
    const { lives } = this.run;
    while (this.next < lives.length && lives[this.next]!.atUs <= atUs) {
      const { engine, state } = lives[this.next++]!;
      this.states[engine] = state;
    }
    return this.states.flatMap((state, of) =>
      state === undefined || state === 'gone'
        ? []
        : [{ of, engine: this.engineAt(of, state, atUs) }],
    );
  }

  private engineAt(of: number, state: LifeEvent['state'], atUs: Micros): PictureEngine {
    const { engineId, role, numBlocks } = this.run.engines[of]!;
    const { startUs, intervalUs, samples, ...gauges } = this.run.series;
    const sample = Math.min(samples - 1, Math.floor((atUs - startUs) / intervalUs));
    const read = (column: Float32Array): number => column[of * samples + sample] ?? 0;
    return {
      id: engineId,
      name: engineId,
      role,
      state,
      numBlocks,
      running: read(gauges.running),
      waiting: read(gauges.waiting),
      fetching: read(gauges.fetching),
      kvUsage: Math.round(read(gauges.kvUsage) * 1e4) / 1e4,
      heldBlocks: read(gauges.heldBlocks),
      // A run has no data on single steps.
      stepMs: 0,
      steps: 0,
    };
  }
}
