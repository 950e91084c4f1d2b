import type { BatchView, Operation, OperationReply } from '@baton/contract';
import { channels, jsonListener, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { endQuietly } from '../run/engine/end-quietly';
import { EngineIdentity } from '../run/engine/engine-identity';
import { EngineSlot } from '../run/engine/engine-slot';
import { StepLoop } from '../run/engine/step-loop';
import { RunTable } from '../run/runs/run';
import { Bus, Log } from '../run/tokens';
import { batchView } from './batch-view';

/** Carries out operators' commands to all engines, and replies. */
@Injectable()
export class Operations implements OnModuleInit, OnApplicationShutdown {
  private unsubscribe: Unsubscribe | undefined;
  /** vLLM's level of sleep, 0 = awake. */
  sleepLevel: 0 | 1 | 2 = 0;

  constructor(
    private readonly identity: EngineIdentity,
    private readonly bus: Bus,
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly runs: RunTable,
    private readonly log: Log,
  ) {}

  async onModuleInit(): Promise<void> {
    const { bus, slot, log } = this;
    this.unsubscribe = await bus.subscribe(
      channels.operations,
      jsonListener<Operation>(log, (operation) => slot.guard(() => this.act(operation))),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.unsubscribe) await endQuietly(this.unsubscribe(), this.log);
  }

  private act(operation: Operation): void {
    const { identity, loop, slot, runs } = this;
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
        this.reply(operation, true, batchView({ identity, slot, loop, runs }));
        return;
      case 'abort-requests':
        return;
    }
  }

  private reply({ replyTo }: Operation, isDone: boolean, batch?: BatchView): void {
    const { bus, identity } = this;
    const from = identity.engineId;
    const shown = batch === undefined ? {} : { batch };
    const reply: OperationReply = { from, isDone, count: 0, ...shown };
    bus.publish(replyTo, Buffer.from(JSON.stringify(reply)));
  }
}
