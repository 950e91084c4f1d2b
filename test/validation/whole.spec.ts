import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('npm run validate', () => {
  it('prints the text of docs/validation.md (npm run validate -- --save after a change)', () => {
    const printed = execFileSync(process.execPath, ['dist/validation/main.js'], {
      encoding: 'utf8',
    });
    const page = readFileSync('docs/validation.md', 'utf8');
    expect(printed).toContain('vLLM 0.19');
    expect(page).toContain(printed.trim());
  });
});
