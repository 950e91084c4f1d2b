import type { SequenceTimeline } from '@baton/contract';

export interface Scale {
  readonly fromUs: number;
  readonly untilUs: number;
  readonly width: number;
}

export function toX({ fromUs, untilUs, width }: Scale, us: number): number {
  const share = untilUs > fromUs ? (us - fromUs) / (untilUs - fromUs) : 0;
  return Math.min(1, Math.max(0, share)) * width;
}

/** Round instants on the scale, about `count` of them. */
export function ticks({ fromUs, untilUs }: Scale, count: number): number[] {
  const rough = (untilUs - fromUs) / Math.max(1, count);
  if (!(rough > 0)) return [fromUs];
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  const step = Math.max(1, Math.round(round));
  const first = Math.ceil(fromUs / step);
  const last = Math.floor(untilUs / step);
  return Array.from({ length: last - first + 1 }, (_none, i) => (first + i) * step);
}

/** The instant of the first token. Undefined: it has not arrived yet. */
export function firstTokenUs({ events }: SequenceTimeline): number | undefined {
  return events.find(({ name }) => name === 'first_token')?.at_us;
}

/** The last known instant. */
export function lastUs(sequence: SequenceTimeline, durationUs: number): number {
  if (sequence.state === 'running') return durationUs;
  return Math.max(0, ...sequence.events.map(({ at_us }) => at_us));
}
