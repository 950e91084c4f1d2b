/** Colours by meaning. Several lines of one tone in a chart differ in shade. */
export const TONES = {
  prefill: [216, 68],
  decode: [26, 80],
  aggregated: [150, 50],
  queue: [215, 12],
  hold: [48, 85],
  transfer: [266, 55],
  wait: [338, 55],
  good: [150, 50],
  bad: [2, 65],
} as const satisfies Record<string, readonly [hue: number, saturation: number]>;

export type Tone = keyof typeof TONES;

interface Heading {
  readonly title: string;
  /** One or two sentences below the title. */
  readonly note?: string;
  /** Share of the page's width. Default: full. */
  readonly width?: 'half' | 'full';
  /** Whether the section is closed at first. */
  readonly isFolded?: boolean;
}

export interface KeyValuesSection extends Heading {
  readonly kind: 'keyValues';
  /** `tiles`: few large entries. `list`: many small entries. `changed`: every entry is marked. */
  readonly look: 'tiles' | 'list' | 'changed';
  readonly entries: readonly (readonly [key: string, value: string, detail?: string])[];
}

export type CellValue = string | number | null;

export interface TableSection extends Heading {
  readonly kind: 'table';
  readonly columns: readonly { readonly name: string; readonly align?: 'left' | 'right' }[];
  readonly rows: readonly (readonly CellValue[])[];
}

export interface Axis {
  readonly label: string;
  /** `ms`: values are in milliseconds and are shown like `20 ms` or `1.5 s`. */
  readonly unit?: 'ms';
  readonly scale?: 'linear' | 'log';
  /** Lower and upper end. Default: from the values. */
  readonly range?: readonly [number, number];
}

export interface Series {
  readonly name: string;
  /** One value per entry of `LineChartSection.xs`; null is a gap. */
  readonly values: readonly (number | null)[];
  readonly tone: Tone;
  readonly style?: 'line' | 'dashed' | 'area' | 'points';
}

export interface LineChartSection extends Heading {
  readonly kind: 'lineChart';
  readonly x: Axis;
  readonly y: Axis;
  /** Ascending. */
  readonly xs: readonly number[];
  readonly series: readonly Series[];
  /** Lines across the chart at one value of x or y. */
  readonly marks?: readonly {
    readonly axis: 'x' | 'y';
    readonly at: number;
    readonly label: string;
  }[];
}

export interface BarsSection extends Heading {
  readonly kind: 'bars';
  /** Value of a full bar. Default: the largest value. */
  readonly full?: number;
  readonly bars: readonly {
    readonly label: string;
    readonly value: number | null;
    /** The displayed value with its unit. */
    readonly text: string;
    readonly tone: Tone;
  }[];
}

/** Effects on one figure, each a bar from its lowest to its highest value. */
export interface TornadoSection extends Heading {
  readonly kind: 'tornado';
  /** The value from which the bars go to both sides. */
  readonly base: number;
  readonly bars: readonly {
    readonly label: string;
    readonly low: TornadoEnd;
    readonly high: TornadoEnd;
  }[];
}

interface TornadoEnd {
  readonly value: number;
  /** The displayed value with its unit. */
  readonly text: string;
  /** What leads to it. */
  readonly detail: string;
}

export interface HeatMapSection extends Heading {
  readonly kind: 'heatMap';
  readonly columnsAre: string;
  readonly rowsAre: string;
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** By row, then column. Null: no value. Larger values are darker. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly decimals: number;
  /** The marked cell, as row and column. */
  readonly best?: readonly [number, number];
}

export interface GanttSection extends Heading {
  readonly kind: 'gantt';
  readonly phases: readonly { readonly name: string; readonly tone: Tone }[];
  readonly rows: readonly {
    readonly label: string;
    readonly startMs: number;
    /** Lengths in the order of `phases`, end to end. Null: the phase is omitted. */
    readonly spansMs: readonly (number | null)[];
    readonly detail: string;
  }[];
}

export interface NoteSection extends Heading {
  readonly kind: 'note';
  readonly text: string;
}

/** Command lines to copy. */
export interface CommandsSection extends Heading {
  readonly kind: 'commands';
  readonly commands: readonly string[];
}

/** A part of a report. All texts are plain text. */
export type ReportSection =
  | KeyValuesSection
  | TableSection
  | LineChartSection
  | BarsSection
  | TornadoSection
  | HeatMapSection
  | GanttSection
  | CommandsSection
  | NoteSection;

/**
 * The verdict of a result on its SLO; `doubt` when it may not hold, `void` when its figures are
 * invalid.
 */
export type ReportVerdict = 'met' | 'missed' | 'doubt' | 'void' | 'none';

/** The answer at the top of a report. */
export interface ReportAnswer {
  readonly verdict: ReportVerdict;
  /** The verdict in a few words. Default: the words for `verdict`. */
  readonly headline?: string;
  /** One sentence. */
  readonly sentence: string;
  /** At most three figures, each with its interval, if any. */
  readonly figures: readonly (readonly [name: string, value: string, detail?: string])[];
}

export interface ReportPage {
  readonly title: string;
  readonly subtitle: string;
  readonly answer?: ReportAnswer;
  readonly sections: readonly ReportSection[];
}
