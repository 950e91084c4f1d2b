import { writeFileSync } from 'node:fs';
import { cannotWrite } from '../claim-output';

/** @throws Failure, one sentence */
export function writeFile(
  path: string,
  content: string,
  what: 'profile' | 'points' | 'plot' | 'caches',
): void {
  try {
    writeFileSync(path, content);
  } catch (error) {
    throw cannotWrite(`The ${what} in ${path}`, error);
  }
}
