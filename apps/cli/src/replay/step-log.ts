import type { StepSpan } from '@baton/simulation';

/** Keeps the first steps and leaps of a run, up to a limit. */
export class StepSpans {
  readonly spans: StepSpan[] = [];

  constructor(private readonly limit: number) {}

  add(span: StepSpan): void {
    if (this.spans.length < this.limit) this.spans.push({ ...span });
  }
}
