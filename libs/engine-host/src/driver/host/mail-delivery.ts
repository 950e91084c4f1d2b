import type { EngineMessage, EngineReport, MembershipOrder } from '@baton/contract';
import { unreachable } from '@baton/kernel';
import type { Bus } from '@baton/transport';
import type { MailReaders } from '../../live-engine/engine/mailbox';
import type { RunTable } from '../../live-engine/runs/run';
import type { Endings } from '../endings/endings';
import type { SourceSide } from '../handoff/source-side';
import type { TargetSide } from '../handoff/target-side';
import type { Executor } from '../jobs/executor';
import type { Intake } from '../jobs/intake';
import type { FrameResender } from '../steps/resend';
import type { WarmStart } from './warm-start';

export interface MailDeliveryParts {
  readonly bus: Bus;
  readonly report: () => Promise<EngineReport>;
  readonly runs: RunTable;
  readonly endings: Endings;
  readonly source: SourceSide;
  readonly target: TargetSide;
  readonly intake: Intake;
  /** Undefined: the engine does the work. */
  readonly executor: Executor | undefined;
  readonly resender: FrameResender;
  readonly warmStart: WarmStart;
  readonly onOrder: (order: MembershipOrder) => void;
}

/** Passes each message to the part of the engine that handles it. */
export class MailDelivery implements MailReaders {
  constructor(private readonly parts: MailDeliveryParts) {}

  readonly onMessage = (message: EngineMessage): void => {
    const { source, target, executor, resender, warmStart, bus, report, onOrder } = this.parts;
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
        return void report().then((told) =>
          bus.publish(message.replyTo, Buffer.from(JSON.stringify(told))),
        );
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
        return unreachable(message);
    }
  };

  /** Ends this engine's runs of requests whose clients have disconnected. */
  readonly onAborts = (requestIds: readonly string[]): void => {
    const { runs, endings, source, intake } = this.parts;
    for (const requestId of requestIds) {
      const run = runs.get(requestId);
      if (run) endings.abortRun(run);
      else source.dropRequest(requestId, 0, 'aborted');
    }
    intake.wake();
  };
}
