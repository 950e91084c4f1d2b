import { DecodeWay } from '../../../apps/decode/src/decode-way';
import { PrefillWay } from '../../../apps/prefill/src/prefill-way';
import type { Stages } from '../src';

/** The ways of the two stages, as in the processes. */
export const STAGE_WAYS: Stages = { prefill: PrefillWay, decode: DecodeWay };
