import type { BatonConfig } from '@baton/config';

type Pass = (frame: Buffer) => void;
export type FrameFault = (frame: Buffer, pass: Pass) => void;

/**
 * Simulates a bad network for token frames: some are lost, some repeated, some reordered. The rates
 * are hidden options for tests; undefined without them.
 */
export function frameFaults(config: BatonConfig): FrameFault | undefined {
  const { dropFrames, repeatFrames, reorderFrames } = config;
  if (dropFrames + repeatFrames + reorderFrames === 0) return undefined;
  let heldBack: Buffer | undefined;
  return (frame, pass) => {
    if (Math.random() < dropFrames) return;
    if (heldBack === undefined && Math.random() < reorderFrames) {
      heldBack = frame;
      return;
    }
    pass(frame);
    if (Math.random() < repeatFrames) pass(frame);
    if (heldBack) pass(heldBack);
    heldBack = undefined;
  };
}
