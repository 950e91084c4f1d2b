import { BatonError } from '@baton/contract';
import type { Log } from '../../tokens';
import type { Answer } from './answer';

/**
 * Follows a part of an answer that is sent after its turn of the event loop. A rejection becomes
 * the client's error, because no caller waits for it: it would end the process.
 */
export function sendLater(
  sent: Promise<void>,
  { answer, logger }: { readonly answer: Pick<Answer, 'fail'>; readonly logger: Log },
): void {
  const report = (error: unknown): void =>
    logger.error({ err: error }, 'writing an answer failed; its request ends');
  sent
    .catch((error: unknown) => {
      report(error);
      answer.fail(new BatonError('engine_error'));
    })
    .catch(report);
}
