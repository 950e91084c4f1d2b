import { kvLayoutOf, type KvLayoutOfStage } from '@baton/config';
import { BatonError, type EnginePresence, STAGES, type Stage } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { ClusterView } from './cluster-view';
import { Config } from '../tokens';

/** The stages of a route, and the engine that it names. */
interface Way {
  readonly stage: Stage;
  readonly next: Stage | undefined;
  readonly engineId: string | undefined;
}

/**
 * The announced KV capacity of the engines on a request's route. A request that can never fit is
 * refused before it waits.
 */
@Injectable()
export class KvCapacity {
  /** Layouts of the stages whose model has layers with a sliding window. */
  private readonly layouts = new Map<Stage, KvLayoutOfStage>();

  constructor(
    private readonly config: Config,
    private readonly cluster: ClusterView,
  ) {
    for (const stage of STAGES) {
      const layout = kvLayoutOf(config, stage);
      if (layout !== undefined) this.layouts.set(stage, layout);
    }
  }

  /**
   * Most tokens, prompt and output together, that any stage able to decode holds; undefined until
   * an engine has announced itself.
   */
  get largestTokens(): number | undefined {
    const decode = this.ofStage('decode');
    const aggregated = this.ofStage('aggregated');
    return decode === undefined ? aggregated : Math.max(decode, aggregated ?? 0);
  }

  /**
   * Most output tokens that fit on the route after a prompt. Throws `kv_capacity_exceeded` when
   * there is none.
   */
  outputRoom(route: Way, promptTokens: number): number {
    const first = this.ofRoute(route, route.stage);
    const last = route.next === undefined ? first : this.ofRoute(route, route.next);
    const room = last - promptTokens;
    if (promptTokens + 1 <= first && room >= 1) return room;
    throw new BatonError(
      'kv_capacity_exceeded',
      `The prompt needs KV cache for ${promptTokens + 1} tokens, but an engine has room for ` +
        `${Math.min(first, last)}. Please reduce the length of the prompt.`,
    );
  }

  private ofRoute(route: Way, stage: Stage): number {
    const { engineId } = route;
    if (engineId === undefined) return this.ofStage(stage) ?? Infinity;
    const engine = this.cluster.find(engineId);
    return engine === undefined ? Infinity : this.ofEngine(engine);
  }

  /**
   * Any engine of the stage can take a job from the shared queue, so the smallest engine decides.
   */
  private ofStage(stage: Stage): number | undefined {
    let least: number | undefined;
    for (const engine of this.cluster.living()) {
      if (engine.stage === stage) least = Math.min(least ?? Infinity, this.ofEngine(engine));
    }
    return least;
  }

  private ofEngine({ stage, gauges: { numBlocks } }: EnginePresence): number {
    const layout = this.layouts.get(stage);
    return layout?.longest(numBlocks) ?? numBlocks * this.config.blockSize;
  }
}
