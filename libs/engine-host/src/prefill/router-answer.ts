import { emptyFrameEntry, type KvTransferParams } from '@baton/contract';
import { EngineStats } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { Endings } from '../run/endings/endings';
import { Frames } from '../run/runs/frames';
import { isRunOver, type Run } from '../run/runs/run';

/** The answer of a prefill leg to an outside router. */
@Injectable()
export class RouterAnswer {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly frames: Frames,
    private readonly endings: Endings,
    private readonly stats: EngineStats,
  ) {}

  /** Ends the leg with one token and the names of the blocks, which stay. */
  async send(run: Run, params: KvTransferParams): Promise<void> {
    const { endings, stats } = this;
    const payload = JSON.stringify(params);
    const result = { reason: 'length', tokens: 1, payload } as const;
    const isOurs = await run.taken.finishJob({ epoch: run.epoch, result });
    if (isRunOver(run)) return;
    if (!isOurs) {
      endings.end(run, 'drop');
      return;
    }
    run.emitted = 1;
    stats.add('generation_tokens');
    this.addEndFrame(run, payload);
    endings.end(run, 'handOn');
  }

  private addEndFrame(run: Run, tail: string): void {
    const { frames } = this;
    const entry = { ...this.entry, streamId: run.job.streamId, epoch: run.epoch, tail };
    frames.add(run.outbox, { ...entry, kind: 'end', reason: 'length', first: 1, count: 1 });
    frames.flushSoon();
  }
}
