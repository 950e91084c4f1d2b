import type { BatchView, Operation, OperationReply } from '@baton/contract';
import { channels, type Unsubscribe } from '@baton/transport';
import { batchView } from './batch-view';
import type { HostContext } from './host-context';

/** Does what an operator asks of all engines, and says so. */
export class Operations {
  private unsubscribe: Unsubscribe | undefined;
  /** vLLM's level of sleep, 0 = awake. */
  sleepLevel: 0 | 1 | 2 = 0;

  constructor(
    private readonly context: HostContext,
    private readonly index: () => number,
  ) {}

  async open(): Promise<void> {
    const { bus } = this.context.transport;
    this.unsubscribe = await bus.subscribe(channels.operations, (payload) =>
      this.context.guard(() => this.act(JSON.parse(payload.toString()) as Operation)),
    );
  }

  async close(): Promise<void> {
    await this.unsubscribe?.();
  }

  private act(operation: Operation): void {
    const { loop, engine } = this.context;
    switch (operation.kind) {
      case 'reset-prefix-cache':
        this.reply(operation, engine.resetPrefixCache(operation.forgetsHost));
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
        this.reply(operation, true, batchView(this.context, this.index()));
        return;
      case 'abort-requests':
        return;
    }
  }

  private reply({ replyTo }: Operation, isDone: boolean, batch?: BatchView): void {
    const { engineId: from } = this.context;
    const shown = batch === undefined ? {} : { batch };
    const reply: OperationReply = { from, isDone, count: 0, ...shown };
    this.context.transport.bus.publish(replyTo, Buffer.from(JSON.stringify(reply)));
  }
}
