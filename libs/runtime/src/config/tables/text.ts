import { choice } from '../option';

/** What answers say. */
export const TEXT = {
  textModel: choice(['simulated', 'echo'], 'simulated', {
    help: 'Where answers come from: simulated sentences, or the last user message (echo).',
  }),
} as const;
