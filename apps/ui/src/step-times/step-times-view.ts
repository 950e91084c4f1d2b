import type { PictureStepTimes } from '@baton/contract';
import { make, setAttribute, setText } from '../element';
import { explainer } from '../explain';
import { formatCount, formatOf } from '../format';

/** One line per step-time model of the engines, for the reliability of the figures. */
export class StepTimesView {
  private readonly list = make('ul', { class: 'step-times', 'aria-label': 'Step times' });
  readonly element = make('div', { class: 'step-times-part', hidden: true }, [
    this.list,
    explainer('stepTimes', 'the source of step times'),
  ]);
  private readonly lines: HTMLElement[] = [];

  show(stepTimes: readonly PictureStepTimes[]): void {
    this.element.hidden = stepTimes.length === 0;
    while (this.lines.length < stepTimes.length) this.lines.push(this.newLine());
    while (this.lines.length > stepTimes.length) this.lines.pop()!.remove();
    for (const [i, one] of stepTimes.entries()) {
      setText(this.lines[i]!, stepTimesText(one));
      setAttribute(this.lines[i]!, 'data-method', one.method);
    }
  }

  private newLine(): HTMLElement {
    const line = make('li');
    this.list.append(line);
    return line;
  }
}

/** `Step times of prefill, decode: composed from …; 12 steps outside of the measured range`. */
export function stepTimesText(stepTimes: PictureStepTimes): string {
  const { roles, method, description } = stepTimes;
  const how = description.includes(method) ? description : `${method}: ${description}`;
  return `Step times of ${roles.join(', ')}: ${how}${outsideText(stepTimes)}`;
}

function outsideText(stepTimes: PictureStepTimes): string {
  const { outsideSteps, unmeasuredSteps: unmeasured, farthestOutside } = stepTimes;
  const measured = (outsideSteps ?? 0) - unmeasured;
  const times = formatCount(Math.round(farthestOutside * 100) / 100);
  const far = farthestOutside > 1 ? `, up to ${times} times the measured maximum` : '';
  return [
    measured > 0 ? `; ${formatOf(measured, 'step')} outside of the measured range${far}` : '',
    unmeasured > 0 ? `; ${formatOf(unmeasured, 'step')} of a shape that was not measured` : '',
  ].join('');
}
