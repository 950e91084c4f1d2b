import type { BatonConfig } from '@baton/config';

type Pass = (frame: Buffer) => void;

/**
 * What a bad network does to token frames, on request: loses some, shows some twice, and some after
 * their successor. The rates are hidden options for tests; without them frames pass untouched.
 */
export function frameFaults(config: BatonConfig): (frame: Buffer, pass: Pass) => void {
  const { dropFrames, repeatFrames, reorderFrames } = config;
  if (dropFrames + repeatFrames + reorderFrames === 0) return (frame, pass) => pass(frame);
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
