import { describe, expect, it } from 'vitest';
import type { TornadoSection } from '../sections';
import { renderSection } from './render-section';

const end = (value: number, detail: string) => ({ value, text: `${value}/s`, detail });

function rendered(bars: TornadoSection['bars']): string {
  return renderSection({ kind: 'tornado', title: 'What if', base: 10, bars }, 0);
}

describe('a tornado', () => {
  it('has bars to both sides of the base on one scale, with their texts', () => {
    const html = rendered([
      { label: 'prompts', low: end(5, 'twice'), high: end(25, 'half') },
      { label: 'a <link>', low: end(10, 'as configured'), high: end(15, 'twice') },
    ]);
    expect([...html.matchAll(/style="([^"]+)"/g)].map(([, style]) => style)).toEqual([
      ...['left:0.00%;width:25.00%', 'left:25.00%;width:75.00%', 'left:25.00%'],
      ...['left:25.00%;width:0.00%', 'left:25.00%;width:25.00%', 'left:25.00%'],
    ]);
    expect(html).toContain('5/s<small>twice</small>');
    expect(html).toContain('a &lt;link&gt;');
  });

  it('is a line where nothing changes', () => {
    const html = rendered([{ label: 'x', low: end(10, 'a'), high: end(10, 'b') }]);
    expect(html).toContain('left:50.00%;width:0.00%');
    expect(html).not.toContain('NaN');
  });
});
