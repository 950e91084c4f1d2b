import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const FOLDER = dirname(fileURLToPath(import.meta.url));

/** The model with random weights, the default. */
export const DEFAULT_MODEL = join(FOLDER, '.baton', 'random-29m.gguf');
