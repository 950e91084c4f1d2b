import type { BatchView, Operation, OperationReply } from '@baton/contract';
import type { EngineIdentity } from '../../live-engine/engine/engine-identity';
import type { EngineSlot } from '../../live-engine/engine/engine-slot';
import type { RunTable } from '../../live-engine/runs/run';
import type { StepLoop } from '../../live-engine/engine/step-loop';
import { type Bus, channels, type Unsubscribe } from '@baton/transport';
import { batchView } from './batch-view';

export interface OperationsParts {
  readonly identity: EngineIdentity;
  readonly bus: Bus;
  readonly slot: EngineSlot;
  readonly loop: StepLoop;
  readonly runs: RunTable;
}

/** Carries out operators' commands to all engines, and replies. */
export class Operations {
  private unsubscribe: Unsubscribe | undefined;
  /** vLLM's level of sleep, 0 = awake. */
  sleepLevel: 0 | 1 | 2 = 0;

  constructor(private readonly parts: OperationsParts) {}

  async open(): Promise<void> {
    const { bus, slot } = this.parts;
    this.unsubscribe = await bus.subscribe(channels.operations, (payload) =>
      slot.guard(() => this.act(JSON.parse(payload.toString()) as Operation)),
    );
  }

  async close(): Promise<void> {
    await this.unsubscribe?.();
  }

  private act(operation: Operation): void {
    const { loop, slot } = this.parts;
    switch (operation.kind) {
      case 'reset-prefix-cache':
        this.reply(operation, slot.engine.resetPrefixCache(operation.forgetsHost));
        return;
      case 'pause':
        loop.pause();
        this.sleepLevel = operation.isSleep ? (operation.level ?? 1) : 0;
        this.reply(operation, true);
        return;
      case 'resume':
        loop.resume();
        this.sleepLevel = 0;
        this.reply(operation, true);
        return;
      case 'show-batch':
        this.reply(operation, true, batchView(this.parts));
        return;
      case 'abort-requests':
        return;
    }
  }

  private reply({ replyTo }: Operation, isDone: boolean, batch?: BatchView): void {
    const { bus, identity } = this.parts;
    const from = identity.engineId;
    const shown = batch === undefined ? {} : { batch };
    const reply: OperationReply = { from, isDone, count: 0, ...shown };
    bus.publish(replyTo, Buffer.from(JSON.stringify(reply)));
  }
}
