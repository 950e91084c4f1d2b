import { isObject } from '@baton/kernel';
import { HardwareError } from '../hardware-error';
import type { Gpu, GpuInterconnect } from './gpu';
import { efficiency, gpu } from './gpu-row';

/** Smallest and largest value of each field. */
const REQUIRED = {
  memory_gib: [1, 10_000],
  memory_gb_per_s: [1, 1_000_000],
  bf16_tflops: [0.1, 1_000_000],
} as const;

const OPTIONAL = {
  /** Unset: the GPU has no FP8 units. */
  fp8_tflops: [0.1, 1_000_000],
  /** Unset: the GPU has no NVFP4 units. */
  fp4_tflops: [0.1, 1_000_000],
  /** The memory that the driver reports. Default: 0.99 of it. */
  shown_memory_gib: [1, 10_000],
  interconnect_gb_per_s: [0.1, 100_000],
  all_reduce_us: [0, 100_000],
  all_reduce_efficiency: [0.01, 1],
  prefill_efficiency: [0.01, 1],
  decode_efficiency: [0.01, 1],
  attention_efficiency: [0.01, 1],
  memory_efficiency: [0.01, 1],
  layer_overhead_us: [0, 100_000],
} as const;

const RANGES: Readonly<Record<string, readonly [number, number]>> = { ...REQUIRED, ...OPTIONAL };
const KINDS = ['nvlink', 'pcie', 'infinity-fabric', 'inter-chip', 'ethernet'] as const;
const TEXTS = ['name', 'operators', 'interconnect'];
const NAMES = [...TEXTS, ...Object.keys(RANGES)];

type Field = keyof typeof REQUIRED | keyof typeof OPTIONAL;
type Fields = Readonly<Record<string, unknown>>;

/**
 * A user's own GPU, from the fields of docs/step-time.md. Its steps come from the roofline or from
 * a profile, unless `operators` names the folder of its measured operators. Missing efficiencies
 * get the values assumed for unmeasured cards of the catalogue.
 *
 * @param where  the user's value, for errors
 * @throws HardwareError `bad-config`, which names the field
 */
export function gpuFromFields(content: unknown, where: string): Gpu {
  const fields = checkedFields(content, where);
  const of = (name: Field): number | undefined => fields[name] as number | undefined;
  const [fp8, fp4, shownGib] = [of('fp8_tflops'), of('fp4_tflops'), of('shown_memory_gib')];
  const operators = fields['operators'] as string | undefined;
  const teraflops = of('bf16_tflops')!;
  return gpu({
    name: (fields['name'] as string | undefined) ?? 'own-gpu',
    aliases: [],
    teraflops,
    memoryGib: of('memory_gib')!,
    memoryGbPerSecond: of('memory_gb_per_s')!,
    interconnect: interconnectOf(fields),
    efficiency: efficiency(
      [
        of('prefill_efficiency') ?? 0.6,
        of('decode_efficiency') ?? 0.45,
        of('attention_efficiency') ?? 0.5,
      ],
      of('memory_efficiency') ?? 0.85,
      of('layer_overhead_us') ?? 40,
    ),
    figures: where,
    efficiencyFrom: 'given, or assumed as for unmeasured cards',
    ...(fp8 === undefined ? {} : { fp8Factor: fp8 / teraflops }),
    ...(fp4 === undefined ? {} : { fp4Factor: fp4 / teraflops }),
    ...(shownGib === undefined ? {} : { shownGib }),
    ...(operators === undefined ? {} : { operators }),
  });
}

/** Default: PCIe 4.0 x16, as for the cards of the catalogue. */
function interconnectOf(fields: Fields): GpuInterconnect {
  const of = (name: Field, unset: number) => (fields[name] as number | undefined) ?? unset;
  return {
    kind: (fields['interconnect'] as GpuInterconnect['kind'] | undefined) ?? 'pcie',
    bytesPerSecond: of('interconnect_gb_per_s', 32) * 1e9,
    allReduceUs: of('all_reduce_us', 25),
    allReduceEfficiency: of('all_reduce_efficiency', 0.6),
  };
}

function checkedFields(content: unknown, where: string): Fields {
  if (!isObject(content)) {
    throw unusable(where, 'it is not a map of fields');
  }
  for (const [name, value] of Object.entries(content)) checkField(name, value, where);
  const missing = Object.keys(REQUIRED).find((name) => !(name in content));
  if (missing !== undefined) throw unusable(where, `it has no '${missing}'`);
  return content as Fields;
}

function checkField(name: string, value: unknown, where: string): void {
  const known = NAMES.join(', ');
  if (!NAMES.includes(name)) throw unusable(where, `'${name}' is not one of its fields (${known})`);
  if (TEXTS.includes(name)) return checkText(name, value, where);
  const [least, greatest] = RANGES[name]!;
  if (typeof value === 'number' && value >= least && value <= greatest) return;
  throw unusable(where, `'${name}' must be a number from ${least} to ${greatest}`);
}

function checkText(name: string, value: unknown, where: string): void {
  const isKind = name !== 'interconnect' || KINDS.some((kind) => kind === value);
  if (typeof value === 'string' && value !== '' && isKind) return;
  const wanted = name === 'interconnect' ? `one of ${KINDS.join(', ')}` : 'a text';
  throw unusable(where, `'${name}' must be ${wanted}`);
}

function unusable(where: string, why: string): HardwareError {
  return new HardwareError('bad-config', `GPU ${where} cannot be used: ${why}.`);
}
