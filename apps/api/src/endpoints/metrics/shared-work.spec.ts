import { describe, expect, it } from 'vitest';
import { SharedWork } from './shared-work';

/** A fact that a test waits for. */
class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

describe('shared work', () => {
  it('is done once for all who ask before it begins, and one piece at a time', async () => {
    const begun: string[] = [];
    let running = 0;
    const [hasBegun, finish] = [new Gate(), new Gate()];
    const shared = new SharedWork(async (key: string) => {
      expect((running += 1)).toBe(1);
      begun.push(key);
      hasBegun.open();
      if (begun.length === 1) await finish.opened;
      running -= 1;
      return `${key}${begun.length}`;
    });
    const first = [shared.resultFor('a'), shared.resultFor('a')];
    await hasBegun.opened;
    const later = [shared.resultFor('a'), shared.resultFor('b'), shared.resultFor('a')];
    finish.open();
    expect(await Promise.all(first)).toEqual(['a1', 'a1']);
    expect(await Promise.all(later)).toEqual(['a2', 'b3', 'a2']);
  });

  it('goes on after a failure', async () => {
    const shared = new SharedWork((key: number) =>
      key === 0 ? Promise.reject(new Error('failed')) : Promise.resolve(key),
    );
    const failing = shared.resultFor(0);
    const next = shared.resultFor(1);
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe(1);
  });
});
