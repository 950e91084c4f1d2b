/** One measured or published figure, and Baton's figure for it. */
export interface Finding {
  readonly part: string;
  readonly what: string;
  readonly theirs: number;
  readonly ours: number;
  readonly unit: string;
  /**
   * Target for the error: percent of the other figure, or percentage points where the unit is %.
   * Undefined: no target.
   */
  readonly aim?: number;
  /** True when a constant was fitted to this figure, so that it proves nothing. */
  readonly isFitted?: boolean;
}

/** Percent of the other figure. For shares in %: the difference in points. */
export function errorOf({ theirs, ours, unit }: Finding): number {
  return unit === '%' ? ours - theirs : (100 * (ours - theirs)) / theirs;
}

export function isMissed(finding: Finding): boolean {
  return finding.aim !== undefined && Math.abs(errorOf(finding)) > finding.aim;
}

/** A Markdown table, aligned for terminals. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => [
    finding.what + (finding.isFitted === true ? ' (fitted)' : ''),
    figure(finding.theirs, finding.unit),
    figure(finding.ours, finding.unit),
    `${signed(errorOf(finding))} ${finding.unit === '%' ? 'points' : '%'}`,
    verdictOf(finding),
  ]);
  const head = ['what', 'published or measured', 'Baton', 'error', 'aim'];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function verdictOf(finding: Finding): string {
  if (finding.isFitted === true || finding.aim === undefined) return '';
  const unit = finding.unit === '%' ? 'points' : '%';
  return `${isMissed(finding) ? '**missed**' : 'met'}: ${finding.aim} ${unit}`;
}

function figure(value: number, unit: string): string {
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return `${value.toFixed(digits)} ${unit}`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
}
