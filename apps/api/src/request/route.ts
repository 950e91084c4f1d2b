import { BatonError, type Stage } from '@baton/contract';
import type { GenerationRequest } from '@baton/openai';
import { chooseRoute, type StageLoad } from '@baton/policies';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../cluster/cluster-view';
import type { SettledLeg } from '../routers/leg';
import { LegForms } from '../routers/leg-forms';
import { Legs } from '../routers/legs';
import type { Routed } from './admit/admission';
import { AdmissionGate } from './admit/admission-gate';
import { ownRoute, poolingRoute, type Route, wishedRoute } from './route/route';
import type { CheckedRequest, Call } from './take/call';

const NO_LEG: SettledLeg = { kind: 'none' };

/**
 * Second step: chooses the route of each sequence from the client's request and the living engines.
 * A leg of an outside router waits here until its other leg has progressed far enough.
 */
@Injectable()
export class RouteStep {
  constructor(
    private readonly forms: LegForms,
    private readonly legs: Legs,
    private readonly cluster: ClusterView,
    private readonly gate: AdmissionGate,
  ) {}

  /** @throws BatonError `no_engine`, and what `Legs.settle` throws */
  async route(call: Call, checked: CheckedRequest): Promise<Routed> {
    const { request, isPooling } = checked;
    const { kvTransferParams: params } = request;
    const [first] = request.prompts;
    const promptTokens = first?.ids.length ?? 0;
    const isLeg = params !== undefined || this.forms.areIn(call);
    const leg = isLeg ? await this.legs.settle(call, params, promptTokens) : NO_LEG;
    const routes = isPooling
      ? this.planPooling(request, call.engineId)
      : this.plan(request, call.engineId, leg);
    return { call, checked, leg, routes };
  }

  /**
   * One route per sequence. kv_transfer_params apply only to the first sequence: they name the
   * blocks of one prompt, which are read once. Throws `no_engine` when a stage of the route has had
   * no engine for a while.
   */
  private plan(request: GenerationRequest, engineId: string | undefined, leg: SettledLeg): Route[] {
    const engine = engineId === undefined ? undefined : this.engineAt(engineId);
    const plain = wishedRoute(NO_LEG, engine) ?? this.own();
    const first = leg === NO_LEG ? plain : (wishedRoute(leg, engine) ?? plain);
    this.refuseWithoutEngine(first);
    const sequences = request.prompts.length * request.choices;
    const routes = new Array<Route>(sequences).fill(plain);
    if (sequences > 0) routes[0] = first;
    return routes;
  }

  /**
   * One route per prompt-only request: on prefill engines if there are any, else on aggregated
   * ones.
   */
  private planPooling(request: GenerationRequest, engineId: string | undefined): Route[] {
    const engine = engineId === undefined ? undefined : this.engineAt(engineId);
    const stage = this.isServed('prefill') ? 'prefill' : 'aggregated';
    const route = wishedRoute({ kind: 'none' }, engine) ?? poolingRoute(stage);
    this.refuseWithoutEngine(route);
    return request.prompts.map(() => route);
  }

  private own(): Route {
    const choice = chooseRoute({
      prefill: this.engineLoadOf('prefill'),
      decode: this.engineLoadOf('decode'),
      aggregated: this.engineLoadOf('aggregated'),
    });
    if (choice.kind === 'none') throw new BatonError('no_engine');
    return ownRoute(choice.kind);
  }

  /**
   * A stage still counts when its last engine has just left, because its queue waits for the return
   * of the engine.
   */
  private engineLoadOf(stage: Stage): StageLoad {
    const readyEngines = this.cluster.readyEngines(stage);
    return {
      readyEngines: readyEngines === 0 && this.isServed(stage) ? 1 : readyEngines,
      waiting: this.gate.waiting[stage],
    };
  }

  private engineAt(engineId: string): { engineId: string; stage: Stage } {
    const engine = this.cluster.find(engineId);
    if (!engine) throw new BatonError('no_engine');
    return engine;
  }

  private refuseWithoutEngine(route: Route): void {
    const { stage, next } = route;
    if (!this.isServed(stage)) throw new BatonError('no_engine');
    if (next !== undefined && !this.isServed(next)) throw new BatonError('no_engine');
  }

  private isServed(stage: Stage): boolean {
    return this.cluster.isReady(stage) || this.cluster.wasReadyLately(stage);
  }
}
