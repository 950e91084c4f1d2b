import { LiveClock } from '@baton/clock';
import {
  Endings,
  EngineEntry,
  EngineSlot,
  Handoff,
  type Held,
  HeldKv,
  type Holder,
  HostOptions,
  keptKv,
  Log,
  type PrefillStage,
  RouterAnswer,
  type Run,
  RunStarter,
  SourceSide,
  TargetSide,
} from '@baton/engine-host';
import type { Micros } from '@baton/kernel';
import type { TakenJob } from '@baton/transport';
import { Injectable } from '@nestjs/common';

/**
 * The way of a prompt through an engine, in the order in which it happens:
 *
 *     take → run → hold → offer → release
 *
 * A prompt is computed once, and its KV waits under a lease until decode has fetched it, until the
 * lease ends, or until the request is aborted.
 */
@Injectable()
export class PrefillWay implements PrefillStage, Holder {
  constructor(
    private readonly options: HostOptions,
    private readonly starter: RunStarter,
    private readonly entry: EngineEntry,
    private readonly target: TargetSide,
    private readonly source: SourceSide,
    private readonly heldKv: HeldKv,
    private readonly handoff: Handoff,
    private readonly router: RouterAnswer,
    private readonly endings: Endings,
    private readonly slot: EngineSlot,
    private readonly clock: LiveClock,
    private readonly log: Log,
  ) {
    source.listen(this);
  }

  /** 1. A job comes from a queue. It becomes a run when the ledger permits it. */
  take(taken: TakenJob): void {
    this.starter.take(taken, (run) => this.run(run));
  }

  /**
   * 2. The engine computes the prompt. Blocks that decode has kept of the previous turn are fetched
   * first, if their content is known.
   */
  private run(run: Run): void {
    const { entry, target, options } = this;
    const kept = keptKv(run.job, options.facts.blockSize);
    if (kept?.claim !== undefined) {
      const tokens = kept.claimedTokens;
      target.enter(run, kept, () => entry.submit(run, 'prefill-and-hold', tokens));
      return;
    }
    if (kept !== undefined) target.decline(kept.source);
    entry.enter(run, 'prefill-and-hold');
  }

  /** 3. The prompt is computed. Its blocks stay, under a lease. */
  hold(run: Run, heldUs: Micros): void {
    this.source.hold(run, { tokens: run.job.promptTokens, isKept: false, heldUs });
  }

  /**
   * 4. The blocks are offered: to decode, through ledger and queue, or to an outside router, as the
   * answer of its prefill leg. A broker that cannot be reached returns the job: the next engine
   * computes the prompt again.
   */
  offer(held: Held): void {
    const { run } = held;
    run.state = 'moving-on';
    this.sendOffer(held).catch((error: unknown) => {
      const { requestId } = run.job;
      this.log.warn({ err: error, requestId }, 'a hand-over failed');
      this.slot.guard(() => this.endings.end(run, 'giveBack'));
    });
  }

  private sendOffer(held: Held): Promise<void> {
    const { run, generation } = held;
    const params = this.heldKv.paramsOf(held);
    if (run.job.flow === 'hold') return this.router.send(run, params);
    const heldUs = this.clock.toWallUs(held.heldUs);
    return this.handoff.pass(run, { params, generation, heldUs });
  }

  /**
   * 5. The blocks are free: they were fetched, their lease has ended, or the request was aborted. A
   * run that was not offered yet has nothing to hand over.
   */
  release({ run, isKept }: Held): void {
    if (run.state === 'running' && !isKept) this.endings.end(run, 'drop');
  }
}
