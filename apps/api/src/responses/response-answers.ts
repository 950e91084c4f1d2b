import type { ServerResponse } from 'node:http';
import {
  type ResponseItem,
  type ResponseObject,
  ResponseOutcome,
  type ResponseRequest,
  StreamedResponse,
} from '@baton/openai';
import { assert } from '@baton/kernel';
import type { Logger } from '@baton/runtime';
import { asciiJson } from '@baton/text';
import { Inject, Injectable } from '@nestjs/common';
import type { Answer } from '../generation/answer';
import type { AnswerParts } from '../generation/asked';
import { StreamAnswer } from '../generation/stream-answer';
import { WholeAnswer } from '../generation/whole-answer';
import type { HttpAnswer } from '../http/http-answer';
import { LOGGER } from '../tokens';
import { BackgroundAnswer } from './background-answer';
import { isOver, ResponseStore, type StoredResponse } from './response-store';
import { type Keeper, StoredAnswer } from './stored-answer';

/** A response on its way. */
export interface ResponseParts {
  readonly id: string;
  readonly request: ResponseRequest;
  /** Items of the responses that it goes on with. */
  readonly context: readonly ResponseItem[];
  /** Of a background response: the client that wants to hear its stream all the same. */
  readonly listener?: HttpAnswer | undefined;
}

/** Makes the answers of responses: streamed or in one piece, stored or not, heard or in the background. */
@Injectable()
export class ResponseAnswers {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly store: ResponseStore,
  ) {}

  make(parts: ResponseParts, { http, head, plans, options }: AnswerParts): Answer {
    const { request } = parts;
    const [plan] = plans;
    assert(plan, 'a response has one sequence');
    const outcome = new ResponseOutcome({ request, head, plan, options }, nowSeconds);
    const shown = (to: HttpAnswer): Answer => this.shown(outcome, to, plans);
    const answer = isBackground(request)
      ? new BackgroundAnswer(http.response, listening(parts.listener, shown))
      : shown(http);
    return request.isStored
      ? new StoredAnswer(answer, outcome, this.keeper(parts, outcome))
      : answer;
  }

  private shown(outcome: ResponseOutcome, http: HttpAnswer, plans: AnswerParts['plans']): Answer {
    if (outcome.context.request.generation.stream) {
      return new StreamAnswer(http, new StreamedResponse(outcome));
    }
    return new WholeAnswer(http, plans, ([result], { cachedTokens }) => {
      assert(result, 'the sequence has ended');
      return asciiJson(outcome.ended({ ...result, cachedTokens }));
    });
  }

  private keeper({ request, context }: ResponseParts, outcome: ResponseOutcome): Keeper {
    const stored = (response: ResponseObject): StoredResponse => ({
      response,
      context,
      input: request.own,
      deltas: outcome.deltas,
    });
    if (isBackground(request)) return this.backgroundKeeper(outcome, stored);
    return {
      begun: () => Promise.resolve(),
      ended: (response) =>
        this.safely(response, async () => {
          // Nobody has heard of a failed response that was not streamed.
          if (response.status === 'failed' && !request.generation.stream) return;
          const isKept = await this.store.add(response.id, stored(response));
          if (!isKept) this.logger.warn({ response: response.id }, 'response too large to store');
        }),
    };
  }

  /** It is in the store already. One that was cancelled stays so, one that was deleted stays away. */
  private backgroundKeeper(
    outcome: ResponseOutcome,
    stored: (response: ResponseObject) => StoredResponse,
  ): Keeper {
    return {
      begun: () => {
        const started = outcome.started();
        return this.safely(started, () =>
          this.store.update(started.id, (now) =>
            now.response.status === 'queued' ? stored(started) : undefined,
          ),
        );
      },
      ended: (response) =>
        this.safely(response, () =>
          this.store.update(response.id, (now) => (isOver(now) ? undefined : stored(response))),
        ),
    };
  }

  private async safely({ id }: ResponseObject, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.logger.warn({ response: id, err: error }, 'response not stored');
    }
  }
}

export function isBackground({ dto }: ResponseRequest): boolean {
  return dto.background === true;
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function listening(
  http: HttpAnswer | undefined,
  shown: (http: HttpAnswer) => Answer,
): { answer: Answer; response: ServerResponse } | undefined {
  return http && { answer: shown(http), response: http.response };
}
