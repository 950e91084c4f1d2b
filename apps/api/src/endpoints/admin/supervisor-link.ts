import { UsageError } from '@baton/config';
import { BatonError, type ChildMessage, type Stage, type SupervisorMessage } from '@baton/contract';
import type { EngineStarter } from '@baton/worker';

/** The channel between this process and the one that started it. */
export interface ParentChannel {
  send(message: ChildMessage): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** A supervisor answers as soon as it has started processes. */
const ANSWER_WITHIN_MS = 5_000;

/** Asks the supervisor of `baton up`, which started this process, to start workers. */
export class SupervisorLink implements EngineStarter {
  private asked = 0;
  private readonly waiting = new Map<number, (answer: SupervisorMessage) => void>();

  constructor(private readonly channel: ParentChannel) {
    channel.onMessage((message) => {
      if (!isAnswer(message)) return;
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
  }

  /** Undefined in a process that no supervisor has started. */
  static ofThisProcess(): SupervisorLink | undefined {
    const isChild = process.send !== undefined && process.env['BATON_PROCESS'] !== undefined;
    if (!isChild) return undefined;
    return new SupervisorLink({
      send: (message) => void process.send?.(message),
      onMessage: (listener) => process.on('message', listener),
    });
  }

  /**
   * @throws UsageError in the supervisor's words; BatonError `no_supervisor` when it does not
   *   answer
   */
  async start(role: Stage, count: number): Promise<void> {
    this.asked += 1;
    const id = this.asked;
    const answer = await new Promise<SupervisorMessage | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.channel.send({ kind: 'start-engines', id, role, count });
    });
    this.waiting.delete(id);
    if (answer === undefined) throw new BatonError('no_supervisor');
    if (answer.refusal !== undefined) throw new UsageError(answer.refusal);
  }
}

function isAnswer(message: unknown): message is SupervisorMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    message.kind === 'engines-started'
  );
}
