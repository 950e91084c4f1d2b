import { describe, expect, it } from 'vitest';
import { samplesOf } from './metric-samples';
import { stepTimesBetween, stepTimesIn as stepTimesOf } from './step-times';

const stepTimesIn = (page: string) => stepTimesOf(samplesOf(page));

const MADE = 'stage="decode",method="composed",description="of \\"x\\", TP1"';

type Counts = readonly [engine: number, steps: number, far: number, unmeasured?: number];

function page(engines: readonly Counts[]): string {
  return engines
    .flatMap(([engine, steps, far, unmeasured = 0]) => {
      const own = `engine="${engine}",model_name="m"`;
      return [
        `baton:step_time_info{${own},${MADE}} 1`,
        `baton:steps_outside_range_total{${own}} ${steps}`,
        `baton:steps_of_unmeasured_shape_total{${own}} ${unmeasured}`,
        `baton:step_farthest_outside_range_ratio{${own}} ${far}`,
      ];
    })
    .join('\n');
}

describe('the step times on a page of metrics', () => {
  it('give the model, and how far a run left the measured range', () => {
    const before = page([
      [0, 5, 1.5],
      [1, 0, 1],
    ]);
    const after = page([
      [0, 7, 1.5],
      [1, 1, 3],
    ]);
    expect(stepTimesBetween(stepTimesIn(before), stepTimesIn(after))).toEqual([
      {
        role: 'decode',
        method: 'composed',
        description: 'of "x", TP1',
        steps_outside_range: 3,
        steps_of_unmeasured_shape: 0,
        farthest_outside: 3,
      },
    ]);
  });

  it('counts no steps before the run', () => {
    const [one] = stepTimesBetween(stepTimesIn(page([[0, 5, 2]])), stepTimesIn(page([[0, 5, 2]])));
    expect(one).toMatchObject({ steps_outside_range: 0, farthest_outside: null });
  });

  it('gives no distance of steps of a shape that was not measured', () => {
    const [one] = stepTimesBetween(
      stepTimesIn(page([[0, 5, 2]])),
      stepTimesIn(page([[0, 6, 2, 1]])),
    );
    expect(one).toMatchObject({
      steps_outside_range: 1,
      steps_of_unmeasured_shape: 1,
      farthest_outside: null,
    });
  });

  it('is undefined for a server of another kind', () => {
    expect(stepTimesIn('vllm:num_requests_running{engine="0"} 1\n# HELP x\n')).toEqual([]);
  });

  it('has no number of steps for step times without a range', () => {
    const info =
      'baton:step_time_info{engine="0",stage="prefill",method="given",description="c"} 1';
    const [one] = stepTimesBetween([], stepTimesIn(info));
    expect(one).toEqual({
      role: 'prefill',
      method: 'given',
      description: 'c',
      steps_outside_range: null,
      steps_of_unmeasured_shape: null,
      farthest_outside: null,
    });
  });
});
