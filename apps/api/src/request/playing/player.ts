import { setTimeout as delay } from 'node:timers/promises';
import { BatonError } from '@baton/contract';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RecordedExchange } from '../../observers/recording/recorded-exchange';
import { Config, Log } from '../../tokens';
import type { Call } from '../take/call';
import { RecordedAnswers } from './recorded-answers';

/**
 * Headers that are not replayed: the length is counted again, and the connection decides the
 * framing.
 */
const OWN_HEADERS = /^(content-length|transfer-encoding|connection|keep-alive|date|x-request-id)$/i;

/**
 * Answers from a recording (`play`): the same bytes with the same pauses, `speedup` times as fast.
 * The cluster takes no part.
 */
@Injectable()
export class Player implements OnModuleInit {
  private answers: RecordedAnswers | undefined;

  constructor(
    private readonly config: Config,
    private readonly logger: Log,
  ) {}

  /** @throws UsageError when the file cannot be played */
  async onModuleInit(): Promise<void> {
    const { play } = this.config;
    if (play === undefined) return;
    this.answers = await RecordedAnswers.read(play);
    this.logger.info({ file: play, answers: this.answers.size }, 'playing recorded answers');
  }

  /** Throws `not_recorded` for a request that the recording does not have. */
  async answer(call: Call): Promise<void> {
    const exchange = this.answers?.find(call.message.url ?? '', call.body);
    if (exchange === undefined) throw new BatonError('not_recorded');
    call.takeOver();
    await this.write(exchange, call);
  }

  private async write(
    { status, answer_headers, writes }: RecordedExchange,
    call: Call,
  ): Promise<void> {
    const { response, arrivalUs } = call;
    const headers = Object.entries(answer_headers).filter(([name]) => !OWN_HEADERS.test(name));
    for (const [index, [atUs, text]] of writes.entries()) {
      const dueMs = (arrivalUs + atUs / this.config.speedup) / 1_000 - performance.timeOrigin;
      const waitMs = dueMs - performance.now();
      if (waitMs > 1) await delay(waitMs);
      if (response.destroyed) return;
      if (index === 0) response.writeHead(status, Object.fromEntries(headers));
      response.write(text);
    }
    if (writes.length === 0) response.writeHead(status, Object.fromEntries(headers));
    response.end();
  }
}
