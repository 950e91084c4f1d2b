import type { IntervalHistogram, RequestLog } from '@baton/analysis';
import type { RequestTotals } from '@baton/policies';
import { usToSeconds } from '@baton/kernel';

/** Counters of requests since the start, as the front of a live cluster counts them. */
export class RequestMeter {
  private arrived = 0;
  private finished = 0;
  private promptTokens = 0;
  private outputTokens = 0;
  private readonly ttft = { sumUs: 0, count: 0 };
  private e2elUs = 0;

  constructor(
    private readonly log: RequestLog,
    private readonly itl: IntervalHistogram,
  ) {}

  onArrived(): void {
    this.arrived++;
  }

  onFirstToken(row: number): void {
    this.ttft.sumUs += this.log.firstTokenUs.at(row) - this.log.arrivalUs.at(row);
    this.ttft.count++;
  }

  onFinished(row: number): void {
    const { log } = this;
    this.finished++;
    this.promptTokens += log.promptTokens[row]!;
    this.outputTokens += log.outputTokens[row]!;
    this.e2elUs += log.finishUs.at(row) - log.arrivalUs.at(row);
  }

  totals(): RequestTotals {
    const { count, sumUs } = this.itl;
    return {
      arrived: this.arrived,
      finished: this.finished,
      promptTokens: this.promptTokens,
      outputTokens: this.outputTokens,
      ttft: { sumSeconds: usToSeconds(this.ttft.sumUs), count: this.ttft.count },
      itl: { sumSeconds: usToSeconds(sumUs), count },
      e2el: { sumSeconds: usToSeconds(this.e2elUs), count: this.finished },
    };
  }
}
