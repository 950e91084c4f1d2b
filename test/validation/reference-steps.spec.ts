import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withChapter } from '../../validation/page';
import { referenceChapter } from '../../validation/reference/reference-report';

describe('the chapter of the reference steps', () => {
  it('is on docs/validation.md (node dist/validation/reference/main.js --save)', () => {
    expect(readFileSync('docs/validation.md', 'utf8')).toContain(`\n${referenceChapter()}\n\n## `);
  });

  it('has each group of steps with its number, and names the quirks that touch it', () => {
    const lines = referenceChapter().split('\n');
    const groups = lines.filter((line) => /^\| \w+ [^ |]+ \w+ \| \d/.test(line));
    const counts = groups.map((line) => Number(line.split(' | ')[1]));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(624);
    const quirks = lines.filter((line) => /^\d\. /.test(line));
    expect(quirks).toHaveLength(7);
    expect(quirks.join()).not.toContain(': 0 steps');
  });

  it('replaces only itself', () => {
    const page = '# Page\n\n## One\n\nold\n\n## Other\n\nkept\n';
    const saved = withChapter(page, '## One\n\nnew');
    expect(saved).toBe('# Page\n\n## One\n\nnew\n\n## Other\n\nkept\n');
  });
});
