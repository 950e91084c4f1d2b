import { planSequence } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { Injectable } from '@nestjs/common';
import { ModelCatalog } from '../cluster/model-catalog';
import { KvCapacity } from '../cluster/kv-capacity';
import type { Routed } from './admit/admission';
import type { Route } from './route/route';
import type { Asked, Call } from './take/call';
import { type AnswerSources, Replies } from './plan/replies';

/** Fourth step: plans the output of each sequence of a request before any of it is computed. */
@Injectable()
export class PlanStep {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly capacity: KvCapacity,
    private readonly replies: Replies,
  ) {}

  /** One plan per route. A text model may take a while. */
  async plan({ call, asked, routes }: Routed): Promise<OutputPlan[]> {
    const { request, isPooling, isExecuted } = asked;
    const sources = await this.replied(call, asked, routes);
    return routes.map((route, index) => {
      const at = Math.floor(index / request.choices);
      const prompt = request.prompts[at];
      const room = this.capacity.outputRoom(route, prompt?.ids.length ?? 0);
      const isPrefillLeg = route.flow === 'hold' || isPooling === true || isExecuted === true;
      const place = { index, room, isPrefillLeg, answers: sources[at] };
      return planSequence(request, place, this.catalog.plans);
    });
  }

  /** No reader needs the text of an outside router's leg or a pooling request. */
  private async replied(
    call: Call,
    { request, isPooling }: Asked,
    [first]: readonly Route[],
  ): Promise<AnswerSources> {
    if (this.replies.isIdle || isPooling === true || first?.flow === 'hold') return [];
    return this.replies.to(call, request);
  }
}
