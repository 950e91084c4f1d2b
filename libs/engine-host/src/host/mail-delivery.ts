import type { EngineMessage } from '@baton/contract';
import { Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { TargetSide } from '../decode/target-side';
import { SourceSide } from '../prefill/source-side';
import { Endings } from '../run/endings/endings';
import { Mailbox, type MailReaders } from '../run/engine/mailbox';
import { Executor } from '../run/jobs/executor';
import { Intake } from '../run/jobs/intake';
import { RunTable } from '../run/runs/run';
import { FrameResender } from '../run/steps/resend';
import { Bus, Log, Orders } from '../run/tokens';
import { EngineNumbers } from './engine-numbers';
import { WarmStart } from './warm-start';

/** Passes each message to the part of the engine that handles it. */
@Injectable()
export class MailDelivery implements MailReaders, OnModuleInit {
  constructor(
    private readonly bus: Bus,
    private readonly mailbox: Mailbox,
    private readonly numbers: EngineNumbers,
    private readonly runs: RunTable,
    private readonly endings: Endings,
    private readonly source: SourceSide,
    private readonly target: TargetSide,
    private readonly intake: Intake,
    private readonly resender: FrameResender,
    private readonly warmStart: WarmStart,
    private readonly onOrder: Orders,
    private readonly log: Log,
    @Optional() private readonly executor?: Executor,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.mailbox.open(this);
  }

  readonly onMessage = (message: EngineMessage): void => {
    const { source, target, executor, resender, warmStart, bus, numbers, onOrder } = this;
    switch (message.kind) {
      case 'read':
        return source.onRead(message);
      case 'read-end':
        return source.onReadEnd(message);
      case 'heartbeat':
        return source.onHeartbeat(message);
      case 'release':
        return source.onRelease(message);
      case 'read-answer':
        return target.onReadAnswer(message);
      case 'read-share':
        return target.onReadShare(message);
      case 'leg-over':
        return executor?.onLegOver(message);
      case 'tell-metrics':
        return void numbers
          .report()
          .then((told) => bus.publish(message.replyTo, Buffer.from(JSON.stringify(told))));
      case 'resend':
        return resender.answer(message);
      case 'tell-cache':
        return warmStart.sendCache(message);
      case 'cache':
        return warmStart.take(message);
      case 'leave':
      case 'become':
        return onOrder(message);
      default:
        return this.ignore(message);
    }
  };

  /** A newer version can send messages that this one does not know. */
  private ignore(message: never): void {
    const { kind } = message as EngineMessage;
    this.log.warn({ kind }, 'unknown message');
  }

  /** Ends this engine's runs of requests whose clients have disconnected. */
  readonly onAborts = (requestIds: readonly string[]): void => {
    const { runs, endings, source, intake } = this;
    for (const requestId of requestIds) {
      const run = runs.get(requestId);
      if (run) endings.end(run, 'abort');
      else source.dropRequest(requestId, 0, 'aborted');
    }
    intake.wake();
  };
}
