import { findByName } from '../find-by-name';
import type { Gpu } from './gpu';
import { NVIDIA_CARDS } from './nvidia-cards';
import { NVIDIA_DATA_CENTRE } from './nvidia-data-centre';
import { OTHER_ACCELERATORS } from './other-accelerators';

/** The GPUs of the catalogue. */
export const GPUS: readonly Gpu[] = [...NVIDIA_DATA_CENTRE, ...NVIDIA_CARDS, ...OTHER_ACCELERATORS];

/** @throws HardwareError `unknown-name` */
export function findGpu(name: string): Gpu {
  return findByName('GPU', GPUS, name);
}
