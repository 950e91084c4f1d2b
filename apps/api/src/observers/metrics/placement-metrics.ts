import { LiveSettings, placerSpec } from '@baton/config';
import { policyName } from '@baton/policies';
import { PolicyDecisionBook, type PolicyDecisionCount, PolicyFaultBook } from '@baton/engine-host';
import type { BatonError, EnginePresence, Stage } from '@baton/contract';
import { familyOf, type MetricFamily, type MetricSample, modelLabels } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import type { ObservedCall, ObservedRequest, RequestObserver } from '../port/port';

const DECISIONS = {
  name: 'baton:placement_decisions_total',
  help: 'Jobs that the placement policy sent to the engine, counted when the engine takes them.',
  type: 'counter',
} as const;
const FAULTS = {
  name: 'baton:policy_faults_total',
  help:
    "Decisions that a policy of the user's own did not make (threw, wrong_answer, slow) and that " +
    'a built-in policy made.',
  type: 'counter',
} as const;
const POLICY_DECISIONS = {
  name: 'baton:policy_decisions_total',
  help: "Decisions of this API process's policies of placement, admission and flow control.",
  type: 'counter',
} as const;
const POLICY_SECONDS = {
  name: 'baton:policy_decision_seconds_total',
  help: 'Wall time of these decisions.',
  type: 'counter',
} as const;

/** The counts of placement, in this front and at the engines. */
@Injectable()
export class PlacementMetrics implements RequestObserver {
  private readonly prefillsOnDecode: Counter;
  private readonly movedJobs: Counter;
  private readonly sloRefusals: Counter;
  /** On the page since the first refusal. */
  private policyRefusals: Counter | undefined;
  private policies: Readonly<Record<Stage, string>> = {
    prefill: 'pull',
    decode: 'pull',
    aggregated: 'pull',
  };

  constructor(
    @Inject(LiveSettings) settings: LiveSettings,
    @Inject(PolicyFaultBook) private readonly faults: PolicyFaultBook,
    @Inject(PolicyDecisionBook) private readonly decisions: PolicyDecisionBook,
    private readonly registry: Registry,
  ) {
    settings.follow(({ config }) => {
      const spec = placerSpec(config);
      const [prefill, decode] = [policyName(spec.prefill), policyName(spec.decode)];
      this.policies = { prefill, decode, aggregated: prefill };
    });
    this.prefillsOnDecode = this.counter(
      'baton:prefills_on_decode_total',
      'Prompts short enough to be computed by their decode engine (conditional disaggregation).',
    );
    this.movedJobs = this.counter(
      'baton:rehomed_jobs_total',
      'Jobs taken out of the queue of an engine that drained, fell silent or was lost, ' +
        'and placed again.',
    );
    this.sloRefusals = this.counter(
      'baton:slo_refusals_total',
      'Requests refused because their first token was predicted to come too late.',
    );
  }

  refused(_call: ObservedCall, { code }: BatonError): void {
    if (code === 'slo_unattainable') this.sloRefusals.inc();
    if (code !== 'admission_refused') return;
    this.policyRefusals ??= this.counter(
      'baton:admission_refusals_total',
      "Requests that an admission policy of the user's own has refused.",
    );
    this.policyRefusals.inc();
  }

  jobsMoved(jobs: number): void {
    this.movedJobs.inc(jobs);
  }

  opened({ sequences }: ObservedRequest): void {
    for (const { job } of sequences) {
      if (job.flow === 'local' && job.placed?.stage === 'decode') this.prefillsOnDecode.inc();
    }
  }

  /** The jobs that each of these engines has taken, as it publishes. */
  placements(engines: readonly EnginePresence[]): MetricFamily {
    const placed = engines.filter(({ stage }) => this.policies[stage] !== 'pull');
    const samples = placed.map((engine) => {
      const { stage, counters } = engine;
      const labels = { ...modelLabels(engine), stage, policy: this.policies[stage] };
      return { labels, value: counters['placed_jobs'] ?? 0 };
    });
    return familyOf(DECISIONS, samples);
  }

  /** The decisions of policies and their faults; empty until there is one. */
  ofPolicies(): MetricFamily[] {
    const faults = this.faults.counts.map(({ policy, stage, kind, count }) => ({
      labels: { policy, stage, reason: kind },
      value: count,
    }));
    const decided = (of: (each: PolicyDecisionCount) => number): MetricSample[] =>
      this.decisions.counts.map((each) => {
        const { kind, policy, stage } = each;
        return { labels: { kind, policy, stage }, value: of(each) };
      });
    const families = [
      familyOf(FAULTS, faults),
      familyOf(
        POLICY_DECISIONS,
        decided(({ count }) => count),
      ),
      familyOf(
        POLICY_SECONDS,
        decided(({ seconds }) => seconds),
      ),
    ];
    return families.filter(({ values }) => values.length > 0);
  }

  private counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }
}
