import { describe, expect, it } from 'vitest';
import { figuresIn } from './server-figures';
import { lateEngines as verdicts } from './step-lag';

/** The reasons in one text; null: none. */
function lateEngines(...readings: Parameters<typeof verdicts>): string | null {
  return (
    verdicts(...readings)
      .map(({ reason }) => reason)
      .join('; ') || null
  );
}

interface Engine {
  readonly stage: string;
  readonly steps: number;
  readonly late: number;
  /** Frames and those of them that were written late. */
  readonly frames?: readonly [all: number, late: number];
}

/** Lags of the engines of a server, numbered from 0. */
function lags(...engines: readonly Engine[]) {
  const lines = engines.flatMap(({ stage, steps, late, frames }, i) => [
    `baton:step_time_info{engine="${i}",stage="${stage}",method="given",description="c"} 1`,
    `baton:step_lag_seconds_bucket{engine="${i}",le="0.0075"} 0`,
    `baton:step_lag_seconds_bucket{engine="${i}",le="0.01"} ${steps - late}`,
    `baton:step_lag_seconds_bucket{engine="${i}",le="+Inf"} ${steps}`,
    `baton:step_lag_seconds_count{engine="${i}"} ${steps}`,
    ...(frames === undefined ? [] : frameLines(i, ...frames)),
  ]);
  return figuresIn(lines.join('\n')).stepLags;
}

function frameLines(engine: number, all: number, late: number): string[] {
  return [
    `baton:frame_delay_seconds_bucket{engine="${engine}",model_name="m",le="0.01"} ${all - late}`,
    `baton:frame_delay_seconds_count{engine="${engine}",model_name="m"} ${all}`,
  ];
}

const prefill = (steps: number, late: number): Engine => ({ stage: 'prefill', steps, late });
const decode = (steps: number, late: number): Engine => ({ stage: 'decode', steps, late });

describe('the verdict on the engines of a server', () => {
  it('names the stage of which over 1 % of the steps ended late', () => {
    const before = lags(prefill(0, 0), prefill(0, 0), decode(0, 0));
    const after = lags(prefill(60, 2), prefill(40, 0), decode(5_000, 50));
    expect(lateEngines(before, after)).toBe(
      '2 of 100 prefill steps of the server ended more than 10 ms late',
    );
  });

  it('names the figures that the stage makes, and every stage that was late', () => {
    const before = lags(prefill(0, 0), decode(0, 0));
    expect(verdicts(before, lags(prefill(100, 2), decode(900, 10)))).toMatchObject([
      { figures: ['ttft', 'e2el'] },
      { figures: ['itl', 'e2el'] },
    ]);
    expect(verdicts(before, lags(prefill(100, 51), decode(900, 451)))).toMatchObject([
      { figures: ['ttft', 'e2el', 'throughput'] },
      { figures: ['itl', 'e2el', 'tpot', 'throughput'] },
    ]);
  });

  it('names frames that an API wrote late, though the steps ended on time', () => {
    const before = lags({ ...decode(0, 0), frames: [0, 0] });
    const after = lags({ ...decode(900, 0), frames: [900, 10] });
    expect(lateEngines(before, after)).toBe(
      '10 of 900 decode frames of the server were written more than 10 ms late',
    );
    expect(lateEngines(before, lags({ ...decode(900, 0), frames: [900, 9] }))).toBeNull();
  });

  it('is none for one late step, and for up to 1 % of many', () => {
    const before = lags(prefill(0, 0), decode(0, 0));
    expect(lateEngines(before, lags(prefill(3, 1), decode(5_000, 50)))).toBeNull();
  });

  it('counts only the steps of the run', () => {
    const earlier = lags(decode(1_000, 900));
    expect(lateEngines(earlier, lags(decode(2_000, 901)))).toBeNull();
    expect(lateEngines(earlier, lags(decode(2_000, 950)))).toMatch(/^50 of 1000 decode/);
  });

  it('counts an engine that has begun again from its start', () => {
    expect(lateEngines(lags(decode(1_000, 900)), lags(decode(100, 5)))).toMatch(/^5 of 100/);
  });

  it('is none for a server of another kind', () => {
    expect(lateEngines([], figuresIn('vllm:num_requests_running{engine="0"} 1\n').stepLags)).toBe(
      null,
    );
  });
});
