import { parseEngines, TopologyError } from '@baton/policies';

/** Whether a word of a command line is a topology, such as `2P3D`. */
export function isTopology(word: string): boolean {
  try {
    parseEngines(word);
    return true;
  } catch (error) {
    if (error instanceof TopologyError) return false;
    throw error;
  }
}
