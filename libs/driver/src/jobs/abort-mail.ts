import type { SourceSide } from '../handoff/source-side';
import type { Endings } from './endings';
import type { Intake } from './intake';
import type { RunTable } from './run';

export interface AbortMailParts {
  readonly runs: RunTable;
  readonly endings: Endings;
  readonly source: SourceSide;
  readonly intake: Intake;
}

/** Ends what this engine has of requests that their clients have given up. */
export class AbortMail {
  constructor(private readonly parts: AbortMailParts) {}

  onAborts(requestIds: readonly string[]): void {
    const { runs, endings, source, intake } = this.parts;
    for (const requestId of requestIds) {
      const run = runs.get(requestId);
      if (run) endings.abortRun(run);
      else source.letGo(requestId, 0, 'aborted');
    }
    intake.wake();
  }
}
