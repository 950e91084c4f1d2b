import { optionalText } from '../option';

/** What a live cluster leaves behind in files. Formats: docs/recording.md. */
export const RECORDING = {
  record: optionalText({
    help: 'Write one line per request into this file: lengths, hashes of blocks, engines and times, never a text. `baton replay --trace` replays it and compares.',
    unset: 'nothing is recorded',
  }),
  logSteps: optionalText({
    help: 'Write one line per engine step into this file: its batch and how long it took. `baton calibrate --input` fits step times to it.',
    unset: 'steps are not logged',
  }),
} as const;
