import { type GenerationRequest, planSequence, type SequencePlace } from '@baton/openai';
import { type OutputPlan, type SequenceFacts, sequenceFacts } from '@baton/text';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../cluster/model-catalog';
import { KvCapacity } from '../cluster/kv-capacity';
import type { Routed } from './admit/admission';
import type { Route } from './route/route';
import type { CheckedRequest, Call } from './take/call';
import { type AnswerSources, Replies } from './plan/replies';
import type { PlacedSequence } from './threads/messages';
import { RequestThreads } from './threads/request-threads';

type PlacedAt = Pick<Place, 'index' | 'room'>;

const NO_SOURCES: AnswerSources = [];

interface Place extends SequencePlace {
  readonly room: number;
  readonly isPrefillLeg: boolean;
}

/** Fourth step: plans the output of each sequence of a request before any of it is computed. */
@Injectable()
export class PlanStep {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly capacity: KvCapacity,
    private readonly replies: Replies,
    private readonly threads: RequestThreads,
  ) {}

  /** One plan per route. It is asynchronous because a text model can take long. */
  async plan({ call, checked, routes }: Routed): Promise<OutputPlan[]> {
    const { request, isPooling, isExecuted, threaded } = checked;
    const sources = this.replies.isIdle ? NO_SOURCES : await this.replied(call, checked, routes);
    const places: Place[] = [];
    for (const [index, route] of routes.entries()) {
      const at = Math.floor(index / request.choices);
      const prompt = request.prompts[at];
      const room = this.capacity.outputRoom(route, prompt?.ids.length ?? 0);
      const isPrefillLeg = route.flow === 'hold' || isPooling === true || isExecuted === true;
      places.push({ index, room, isPrefillLeg, answers: sources[at] });
    }
    return threaded === undefined
      ? this.planned(request, places)
      : this.threads.plan(threaded, this.placed(request, places), call);
  }

  private planned(request: GenerationRequest, places: readonly SequencePlace[]): OutputPlan[] {
    const plans: OutputPlan[] = [];
    for (const place of places) plans.push(planSequence(request, place, this.catalog.plans));
    return plans;
  }

  /**
   * The sequences as data. A text model's answers are chosen here, in the process that has the
   * model.
   */
  private placed(request: GenerationRequest, places: readonly Place[]): PlacedSequence[] {
    return places.map(({ answers, ...place }) => ({
      ...place,
      given: answers?.(this.factsOf(request, place)),
    }));
  }

  /** The facts that choose among answers written by the user. */
  private factsOf(request: GenerationRequest, { index, room }: PlacedAt): SequenceFacts {
    const { seed, lengthModel } = this.catalog.plans;
    const { choices, model, ignoreEos } = request;
    const { ids, maxTokens } = request.prompts[Math.floor(index / choices)]!;
    return sequenceFacts({
      promptIds: ids,
      model,
      seed: request.seed ?? seed,
      choice: index % choices,
      maxTokens: Math.min(maxTokens, room),
      ignoreEos,
      lengthModel,
    });
  }

  /** No reader needs the text of an outside router's leg or a pooling request. */
  private async replied(
    call: Call,
    { request, isPooling }: CheckedRequest,
    [first]: readonly Route[],
  ): Promise<AnswerSources> {
    if (isPooling === true || first?.flow === 'hold') return [];
    return this.replies.to(call, request);
  }
}
