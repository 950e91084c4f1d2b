import { STARTUP_CAUSES } from '@baton/config';
import { type EnginePresence, type Stage, STAGES } from '@baton/contract';
import { renderNumbers } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';

const STATES = ['starting', 'ready', 'draining'] as const;
const CAUSES = ['startup', ...STARTUP_CAUSES, 'cache'];

/** Counts engines by state, starting ones by their load, and those that vanished undrained. */
@Injectable()
export class EngineCensus {
  private known = new Map<string, EnginePresence>();
  /** Engines missing from the board; a slow engine comes back. */
  private readonly missing = new Map<string, Stage>();
  private readonly lost: Record<Stage, number> = { prefill: 0, decode: 0, aggregated: 0 };
  /** Summed until the last look. */
  private readonly presentMs: Record<Stage, number> = { prefill: 0, decode: 0, aggregated: 0 };
  private lookedMs = 0;

  constructor(private readonly cluster: ClusterView) {
    cluster.onEngines((engines) => this.look(engines, performance.now()));
  }

  render(nowMs = performance.now()): string {
    this.addPresence(nowMs);
    const engines = [...this.known.values()];
    const counts = STAGES.flatMap((stage) =>
      STATES.map((state) => ({
        labels: { stage, state },
        value: engines.filter((each) => each.stage === stage && each.state === state).length,
      })),
    );
    return [
      renderNumbers(
        { name: 'baton:engines', help: 'Engines that announce themselves, by stage and state.' },
        'gauge',
        counts,
      ),
      renderNumbers(
        {
          name: 'baton:engines_loading',
          help: 'Starting engines by what they load: a cause of startup_duration, or cache.',
        },
        'gauge',
        STAGES.flatMap((stage) =>
          CAUSES.map((cause) => ({
            labels: { stage, cause },
            value: engines.filter((each) => each.stage === stage && each.loading === cause).length,
          })),
        ),
      ),
      renderNumbers(
        {
          name: 'baton:engines_lost_total',
          help: 'Engines that fell silent without having drained: killed, crashed or cut off.',
        },
        'counter',
        STAGES.map((stage) => ({ labels: { stage }, value: this.lost[stage] })),
      ),
      renderNumbers(
        {
          name: 'baton:engine_seconds_total',
          help: 'Wall seconds of all engines together, in any state, since this process started.',
        },
        'counter',
        STAGES.map((stage) => ({ labels: { stage }, value: this.presentMs[stage] / 1_000 })),
      ),
    ].join('');
  }

  /** The engines of the last look were present until now. */
  private addPresence(nowMs: number): void {
    for (const { stage } of this.known.values()) this.presentMs[stage] += nowMs - this.lookedMs;
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
      if (isLost) this.lost[stage] += 1;
      if (isLost || now.has(engineId)) this.missing.delete(engineId);
    }
  }
}
