import { describe, expect, it } from 'vitest';
import { engineReplicas, objectReplicas, totalReplicas } from './replicas';

const TOLERANCE = 0.1;

describe('a value of the whole cluster (type Object, Value)', () => {
  it.each([
    // value, target, current, ready, desired
    ['the documented doubling, 200m against 100m', 200, 100, 1, 1, 2],
    ['the documented halving, 50m against 100m', 50, 100, 2, 2, 1],
    ['rounded up', 2.1, 2, 10, 10, 10],
    ['above the tolerance', 2.3, 2, 10, 10, 12],
    ['at the tolerance, which floating point puts outside', 1.1, 1, 5, 5, 6],
    ['just within the tolerance', 1.099, 1, 5, 5, 5],
    ['below 1 within the tolerance', 0.91, 1, 5, 5, 5],
    ['of the ready replicas alone', 3, 1, 4, 2, 6],
    ['without load', 0, 1, 4, 4, 0],
  ])('is %s', (_name, value, target, current, ready, desired) => {
    const counts = { current, ready, tolerance: TOLERANCE };
    expect(objectReplicas(value, target, counts)).toBe(desired);
  });
});

describe('a total that replicas share (type External, AverageValue)', () => {
  it.each([
    ['one per target', 30, 10, 1, 3],
    ['rounded up', 31, 10, 1, 4],
    ['within the tolerance of the current share', 32, 10, 3, 3],
    ['beyond it', 34, 10, 3, 4],
    ['nothing to do', 0, 10, 3, 0],
    ['one more at the tolerance, as a real controller does', 4.4, 4, 1, 2],
    ['a sum in floating point as its decimal value', 0.1 + 0.2, 0.3, 2, 1],
  ])('gives %s', (_name, total, target, current, desired) => {
    const counts = { current, ready: current, tolerance: TOLERANCE };
    expect(totalReplicas(total, target, counts)).toBe(desired);
  });
});

/** The tables of replica_calculator_test.go, in units instead of thousandths. */
describe('a value of each replica (type Pods, AverageValue)', () => {
  const none = undefined;
  it.each([
    ['scale up (TestReplicaCalcScaleUpCM)', [20, 10, 30], 15, 3, 4],
    ['scale down (TestReplicaCalcScaleDownCM)', [12, 12, 12, 12, 12], 20, 5, 3],
    ['stay within the tolerance (TestReplicaCalcToleranceCM)', [20, 21, 21], 20, 3, 3],
    ['a missing replica counts as 0 to scale up', [40, 40, none], 20, 3, 4],
    ['a missing replica can cancel a scale-up', [25, none], 20, 2, 2],
    ['a missing replica counts as the target to scale down', [5, 5, none], 20, 3, 2],
    ['missing replicas never reverse a change', [30, none, none, none], 20, 4, 4],
    ['no replica has metrics', [none, none], 20, 2, undefined],
  ])('%s', (_name, values, target, current, desired) => {
    const counts = { current, ready: values.length, tolerance: TOLERANCE };
    expect(engineReplicas(values, target, counts)).toBe(desired);
  });
});
