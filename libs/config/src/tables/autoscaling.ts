import { duration, optionalText } from '../option';

/** The number of engines while the cluster runs. Formulas: docs/autoscaling.md. */
export const AUTOSCALING = {
  autoscaler: optionalText({
    help: 'Policy that adapts the number of engines to the load (docs/autoscaling.md). Needs max.',
    like: 'hpa:ttft=2s',
    unset: 'the topology stays',
  }),
  scalePolicy: optionalText({
    help:
      'Your own autoscaler, as an ES module (docs/policies.md). If it fails, autoscaler ' +
      'decides; without autoscaler, the engines stay. Needs max.',
    pattern: /.\.m?js$/,
    like: './my-scaler.mjs',
    unset: 'autoscaler decides',
  }),
  min: optionalText({
    help: 'Minimum number of engines of each role for the autoscaler.',
    like: '1P1D',
    unset: 'one of each role',
  }),
  max: optionalText({
    help: 'Maximum number of engines of each role for the autoscaler.',
    like: '8P16D',
    unset: 'no autoscaler',
  }),
  scaleInterval: duration(15, [0.1, 86_400], {
    help: 'Time between two decisions of the autoscaler.',
    unit: 's, simulated',
  }),
  scaleMetricsAge: duration(0, [0, 3_600], {
    help:
      'Age of the newest metrics that the autoscaler sees, at most 1,000 intervals; 0 = current ' +
      'ones.',
    unit: 's, simulated',
  }),
} as const;

/** Whether the engines of a cluster follow its load. */
export function isScaled(config: {
  readonly autoscaler: string | undefined;
  readonly scalePolicy: string | undefined;
}): boolean {
  return (config.scalePolicy ?? config.autoscaler) !== undefined;
}
