import { LiveSettings, placerSpec } from '@baton/config';
import { policyName } from '@baton/policies';
import { PolicyDecisionBook, type PolicyDecisionCount, PolicyFaultBook } from '@baton/engine-host';
import type { BatonError, EnginePresence, Stage } from '@baton/contract';
import { engineLabels, type MetricSeries, renderNumbers } from '@baton/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { ObservedCall, ObservedRequest, RequestObserver } from '../port/port';

const NO_POLICIES = { prefill: 'pull', decode: 'pull', aggregated: 'pull' } as const;

/** The counts of placement, in this front and at the engines. */
@Injectable()
export class PlacementMetrics implements RequestObserver {
  private prefillsOnDecode = 0;
  private movedJobs = 0;
  private sloRefusals = 0;
  private policyRefusals = 0;
  private policies: Readonly<Record<Stage, string>> = NO_POLICIES;

  constructor(
    @Inject(LiveSettings) settings: LiveSettings,
    @Inject(PolicyFaultBook) private readonly faults: PolicyFaultBook,
    @Inject(PolicyDecisionBook) private readonly decisions: PolicyDecisionBook,
  ) {
    settings.follow(({ config }) => {
      const spec = placerSpec(config);
      const [prefill, decode] = [policyName(spec.prefill), policyName(spec.decode)];
      this.policies = { prefill, decode, aggregated: prefill };
    });
  }

  refused(_call: ObservedCall, { code }: BatonError): void {
    if (code === 'slo_unattainable') this.sloRefusals += 1;
    if (code === 'admission_refused') this.policyRefusals += 1;
  }

  jobsMoved(jobs: number): void {
    this.movedJobs += jobs;
  }

  opened({ sequences }: ObservedRequest): void {
    for (const { job } of sequences) {
      if (job.flow === 'local' && job.placed?.stage === 'decode') this.prefillsOnDecode += 1;
    }
  }

  render(engines: readonly EnginePresence[]): string {
    const placed = engines.filter(({ stage }) => this.policies[stage] !== 'pull');
    const decisions: MetricSeries<number>[] = placed.map((engine) => {
      const { model, stage, counters } = engine;
      const place = { model_name: model, stage, policy: this.policies[stage] };
      return {
        labels: { ...engineLabels(engine), ...place },
        value: counters['placed_jobs'] ?? 0,
      };
    });
    return [
      renderNumbers(
        {
          name: 'baton:placement_decisions_total',
          help:
            'Jobs that the placement policy sent to the engine, counted when the engine takes ' +
            'them.',
        },
        'counter',
        decisions,
      ),
      this.counter(
        'baton:prefills_on_decode_total',
        'Prompts short enough to be computed by their decode engine (conditional disaggregation).',
        this.prefillsOnDecode,
      ),
      this.counter(
        'baton:rehomed_jobs_total',
        'Jobs taken out of the queue of an engine that drained, fell silent or was lost, ' +
          'and placed again.',
        this.movedJobs,
      ),
      this.counter(
        'baton:slo_refusals_total',
        'Requests refused because their first token was predicted to come too late.',
        this.sloRefusals,
      ),
      this.refusals(),
      this.policyFaults(),
      this.policyDecisions(),
    ].join('');
  }

  /** Empty until a user's own admission policy has refused a request. */
  private refusals(): string {
    if (this.policyRefusals === 0) return '';
    const help = "Requests that an admission policy of the user's own has refused.";
    return this.counter('baton:admission_refusals_total', help, this.policyRefusals);
  }

  /** Empty until a user's own policy has failed. */
  private policyFaults(): string {
    const series = this.faults.counts.map(({ policy, stage, kind, count }) => ({
      labels: { policy, stage, reason: kind },
      value: count,
    }));
    if (series.length === 0) return '';
    const help =
      "Decisions that a policy of the user's own did not make (threw, wrong_answer, slow) and " +
      'that ' +
      'a built-in policy made.';
    return renderNumbers({ name: 'baton:policy_faults_total', help }, 'counter', series);
  }

  /** Empty until a policy of this process has decided. */
  private policyDecisions(): string {
    const { counts } = this.decisions;
    if (counts.length === 0) return '';
    const total = (name: string, help: string, of: (each: PolicyDecisionCount) => number): string =>
      renderNumbers(
        { name, help },
        'counter',
        counts.map((each) => {
          const { kind, policy, stage } = each;
          return { labels: { kind, policy, stage }, value: of(each) };
        }),
      );
    return [
      total(
        'baton:policy_decisions_total',
        "Decisions of this API process's policies of placement, admission and flow control.",
        ({ count }) => count,
      ),
      total(
        'baton:policy_decision_seconds_total',
        'Wall time of these decisions.',
        ({ seconds }) => seconds,
      ),
    ].join('');
  }

  private counter(name: string, help: string, value: number): string {
    return renderNumbers({ name, help }, 'counter', [{ labels: {}, value }]);
  }
}
