import { describe, expect, it } from 'vitest';
import { createLogger, moduleLogger } from './logger';

describe('levels of modules', () => {
  const logger = createLogger({
    name: 'api',
    level: 'warn',
    levels: ['recovery=debug', 'frame-inbox=silent'],
  });

  it('are their own if given, else that of the process', () => {
    const levels = ['recovery', 'frame-inbox', 'cluster-view'].map(
      (module) => moduleLogger(logger, module).level,
    );
    expect(levels).toEqual(['debug', 'silent', 'warn']);
    expect(moduleLogger(logger, 'recovery').bindings()).toMatchObject({ module: 'recovery' });
  });
});
