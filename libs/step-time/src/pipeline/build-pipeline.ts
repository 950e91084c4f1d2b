import {
  describePrecision,
  type EnginePlacement,
  HardwareError,
  pipelinePartition,
  stagesOf,
} from '@baton/hardware';
import { OperatorTables } from '../operators/operator-tables';
import {
  type ComposedSpec,
  composedStepTime,
  operatorsBehind,
  type OperatorSource,
} from '../composed/build-composed';
import { describePlacement, type RooflineSpec, RooflineStepTime } from '../models/roofline';
import type { StepTimeModel } from '../port/step-time-model';
import { hopFrom } from './hop';
import { PipelineStepTime } from './pipeline-step-time';

/**
 * A composed model of every stage, or one clause with the reason why there is none.
 *
 * @throws HardwareError `bad-tensor-parallel`, `bad-pipeline-parallel`, `bad-expert-parallel`
 */
export function composedPipeline(
  spec: ComposedSpec,
  placement: EnginePlacement,
  operators: OperatorSource,
): PipelineStepTime | string {
  const models: StepTimeModel[] = [];
  for (const stage of stagesOf(placement)) {
    const model = composedStepTime(spec, stage, operators);
    if (typeof model === 'string') return model;
    models.push(model);
  }
  const name = placement.gpu.operators!;
  const reach = OperatorTables.of(name, operators.texts)?.system.gpusPerRack;
  return buildPipelineStepTime(`composed from ${operatorsBehind(placement.gpu, operators)}`, {
    placement,
    models,
    reach,
  });
}

/** @throws HardwareError `bad-tensor-parallel`, `bad-pipeline-parallel`, `bad-expert-parallel` */
export function rooflinePipeline(spec: RooflineSpec, placement: EnginePlacement): PipelineStepTime {
  const models = stagesOf(placement).map((stage) => new RooflineStepTime(spec, stage));
  return buildPipelineStepTime('roofline (estimated, not measured: ±60 %)', { placement, models });
}

/** Step times of whole engines, measured or given, do not yield those of stages. */
export function refuseWholeEngines(kind: string, { pp }: EnginePlacement): never {
  throw new HardwareError(
    'not-measured',
    `'${kind}' step times do not support pipeline stages (pipeline_parallel_size is ${pp}). Use ` +
      'composed or roofline step times, or set pipeline_parallel_size to 1.',
  );
}

interface PipelineParts {
  readonly placement: EnginePlacement;
  /** One for each stage. */
  readonly models: readonly StepTimeModel[];
  /** GPUs that reach each other over the interconnect; unset: those of a node. */
  readonly reach?: number | undefined;
}

function buildPipelineStepTime(
  kind: string,
  { placement, models, reach }: PipelineParts,
): PipelineStepTime {
  const { model, pp = 1 } = placement;
  const layers = pipelinePartition(model.layers, pp).join(' + ');
  const hops = Array.from({ length: pp - 1 }, (_, from) => hopFrom(from, placement, reach));
  const description =
    `${kind}, ${describePlacement(placement)}, stages of ${layers} layers, ` +
    `${describePrecision(model.precision)}, overhead ${models[0]!.overheadMs} ms each`;
  return new PipelineStepTime(description, models, hops);
}
