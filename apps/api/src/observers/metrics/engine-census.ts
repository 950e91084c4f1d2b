import { STARTUP_CAUSES } from '@baton/config';
import { type EnginePresence, type Stage, STAGES } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { ClusterView } from '../../cluster/cluster-view';

export const CLUSTER_FAMILIES = [
  'baton:engines',
  'baton:engines_loading',
  'baton:engines_lost_total',
  'baton:engine_seconds_total',
] as const;
const [ENGINES, LOADING, LOST, SECONDS] = CLUSTER_FAMILIES;

const STATES = ['starting', 'ready', 'draining'] as const;
const CAUSES = ['startup', ...STARTUP_CAUSES, 'cache'];

/** Counts engines by state, starting ones by their load, and those that vanished undrained. */
@Injectable()
export class EngineCensus {
  private known = new Map<string, EnginePresence>();
  /** Engines missing from the board; a slow engine comes back. */
  private readonly missing = new Map<string, Stage>();
  private readonly lost: Counter<'stage'>;
  private readonly presence: Counter<'stage'>;
  private lookedMs = 0;

  constructor(
    private readonly cluster: ClusterView,
    registry: Registry,
  ) {
    const registers = [registry];
    const engines = (): EnginePresence[] => [...this.known.values()];
    new Gauge({
      name: ENGINES,
      help: 'Engines that announce themselves, by stage and state.',
      labelNames: ['stage', 'state'],
      aggregator: 'first',
      registers,
      collect() {
        for (const stage of STAGES) for (const state of STATES) this.set({ stage, state }, 0);
        for (const { stage, state } of engines()) this.inc({ stage, state });
      },
    });
    new Gauge({
      name: LOADING,
      help: 'Starting engines by what they load: a cause of startup_duration, or cache.',
      labelNames: ['stage', 'cause'],
      aggregator: 'first',
      registers,
      collect() {
        for (const stage of STAGES) for (const cause of CAUSES) this.set({ stage, cause }, 0);
        for (const { stage, loading: cause } of engines()) if (cause) this.inc({ stage, cause });
      },
    });
    this.lost = new Counter({
      name: LOST,
      help: 'Engines that fell silent without having drained: killed, crashed or cut off.',
      labelNames: ['stage'],
      // Every process counts the same event.
      aggregator: 'max',
      registers,
    });
    this.presence = new Counter({
      name: SECONDS,
      help: 'Wall seconds of all engines together, in any state, since this process started.',
      labelNames: ['stage'],
      aggregator: 'max',
      registers,
      collect: () => this.addPresence(performance.now()),
    });
    for (const stage of STAGES)
      for (const each of [this.lost, this.presence]) each.inc({ stage }, 0);
    cluster.onEngines((seen) => this.look(seen, performance.now()));
  }

  /** The engines of the last look were present until now. */
  private addPresence(nowMs: number): void {
    const seconds = (nowMs - this.lookedMs) / 1_000;
    for (const { stage } of this.known.values()) this.presence.inc({ stage }, seconds);
    this.lookedMs = nowMs;
  }

  private look(engines: readonly EnginePresence[], nowMs: number): void {
    this.addPresence(nowMs);
    const now = new Map(engines.map((engine) => [engine.engineId, engine]));
    for (const { engineId, stage, state } of this.known.values()) {
      if (!now.has(engineId) && state !== 'draining') this.missing.set(engineId, stage);
    }
    this.known = now;
    for (const [engineId, stage] of this.missing) {
      const isLost = this.cluster.hasLost(engineId);
      if (isLost) this.lost.inc({ stage });
      if (isLost || now.has(engineId)) this.missing.delete(engineId);
    }
  }
}
