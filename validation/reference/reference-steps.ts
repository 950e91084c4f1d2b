import { OperatorTables } from '@baton/step-time';
import { cellsIn, type CsvRow } from '../files';
import { compose } from './composed-row';
import { type Quirk, QUIRKS } from './quirks';

/** AIConfigurator's names without their phase, by ours. */
const OURS: Readonly<Record<string, string>> = {
  embedding: 'embedding',
  add_norm_1: 'norms',
  add_norm_2: 'norms',
  qkv_gemm: 'qkv',
  proj_gemm: 'output projection',
  mla_block: 'latent attention',
  gate_ffn1_gemm: 'gate and up',
  act_gate: 'activation',
  ffn2_gemm: 'down',
  logits_gemm: 'output head',
  router_gemm: 'router',
  moe: 'experts',
  moe_pre_dispatch: 'dispatch',
  moe_post_dispatch: 'combine',
  moe_overlap: 'overlapped experts',
  embedding_ar: 'embedding all-reduce',
  ar_1: 'all-reduce',
  ar_2: 'all-reduce',
  shared_gate_up_gemm: 'shared experts',
  shared_ffn2_gemm: 'shared experts',
  shared_act_gate: 'shared experts',
};

/** The largest error of a step that agrees with the reference. */
export const ERROR_MAX = 0.005;

/** A step of AIConfigurator beside ours. */
export interface ComparedStep {
  readonly row: CsvRow;
  /** The quirks of the reference that touch it, and are not copied. */
  readonly quirks: readonly Quirk[];
  /** Ours relative to theirs, less 1, without the operators of the quirks. */
  readonly error: number;
  /** The same with all operators. */
  readonly wholeError: number;
}

/** Text of a file of data/operators, or undefined. */
type ReadTable = (path: string) => string | undefined;

/** Composes the steps of `reference_steps.csv` and compares them with AIConfigurator's. */
export function compareReferenceSteps(read: ReadTable): ComparedStep[] {
  const comparison = new ReferenceComparison(read);
  return rowsIn(read, 'reference_steps.csv').map((row) => comparison.compare(row));
}

function rowsIn(read: ReadTable, path: string): CsvRow[] {
  return cellsIn(read(path)!);
}

class ReferenceComparison {
  private readonly systems = new Map<string, OperatorTables>();
  private readonly theirs = new Map<string, NamedTime[]>();

  constructor(private readonly read: ReadTable) {
    for (const row of rowsIn(read, 'reference_ops.csv')) {
      const known = this.theirs.get(row['id']!) ?? [];
      this.theirs.set(row['id']!, [...known, named(row)]);
    }
  }

  compare(row: CsvRow): ComparedStep {
    const quirks = QUIRKS.filter((one) => one.applies(row));
    const left = new Set(quirks.flatMap((one) => one.operators));
    const own = compose(row, this.tablesOf(row['system']!));
    const theirs = this.theirs.get(row['id']!)!;
    const errorWithout = (names: ReadonlySet<string>): number => {
      return sumWithout(own, names) / sumWithout(theirs, names) - 1;
    };
    return { row, quirks, error: errorWithout(left), wholeError: errorWithout(new Set()) };
  }

  private tablesOf(system: string): OperatorTables {
    const tables = this.systems.get(system) ?? OperatorTables.of(system, { read: this.read })!;
    this.systems.set(system, tables);
    return tables;
  }
}

interface NamedTime {
  readonly name: string;
  readonly us: number;
}

/** An operator of the reference, by our name. */
function named({ op, ms }: CsvRow): NamedTime {
  const [, phase, name] = /^(context|generation)_(.*)$/.exec(op!)!;
  const attention = phase === 'context' ? 'prefill attention' : 'decode attention';
  const ours = name === 'attention' ? attention : (OURS[name!] ?? name!);
  return { name: ours, us: Number(ms) * 1_000 };
}

function sumWithout(operators: readonly NamedTime[], left: ReadonlySet<string>): number {
  const kept = operators.filter(({ name }) => !left.has(name));
  return kept.reduce((sum, { us }) => sum + us, 0);
}
