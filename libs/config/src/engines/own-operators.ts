import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isObject, reasonOf } from '@baton/kernel';
import {
  isProblem,
  layoutOf,
  mergedTable,
  missingFigure,
  OPERATOR_NAMES,
  type OperatorTexts,
  type OwnTableAt,
  readOwnTable,
  repeatedRatios,
  noiseFrom,
  type StepNoise,
} from '@baton/step-time';
import { UsageError } from '../usage-error';

const SYSTEMS = 'systems.json';
const TABLE = /^(.+)\.csv(\.gz)?$/;
const BYTES_MAX = 64 * 2 ** 20;

/** One table of the folder: its file, its system and its operator. */
interface TableFile {
  readonly file: string;
  readonly system: string;
  readonly name: string;
}

/**
 * A folder of the user's own operator tables, `<system>/<operator>.csv` or `.csv.gz` as in
 * data/operators, with an optional systems.json for systems that are not shipped. It keeps the list
 * of files and the sum of their contents. Each file is read and checked on first use.
 */
export class OwnOperators {
  private readonly files: readonly TableFile[];
  private readonly systems: Readonly<Record<string, unknown>>;
  private taken: string | undefined;

  /** @throws UsageError, one sentence that names the file */
  constructor(
    private readonly folder: string,
    private readonly shipped: OperatorTexts,
  ) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UsageError(`operators ${folder} is not a folder.`);
    }
    this.systems = this.readSystems();
    this.files = this.listFiles();
    if (this.files.length === 0) {
      throw new UsageError(
        `operators ${folder} has no table: write <system>/<operator>.csv, such as ` +
          'h100_sxm/gemm.bf16.csv.',
      );
    }
  }

  /** Implements `OperatorTexts`: the user's points take precedence over the shipped ones. */
  read(path: string): string | undefined {
    if (path === SYSTEMS) return JSON.stringify(this.systems);
    const file = this.files.find(({ system, name }) => `${system}/${name}.csv` === path);
    if (file === undefined) return this.shipped.read(path);
    const { layout, table } = this.tableOf(file);
    return mergedTable(table, this.shipped.read(path), [...layout.columns, 'us'].join(','));
  }

  /** The shipped tables, with the systems of the folder. */
  withoutTables(): OperatorTexts {
    const systems = JSON.stringify(this.systems);
    return { read: (path) => (path === SYSTEMS ? systems : this.shipped.read(path)) };
  }

  /** All tables, read and checked. */
  tables(): OwnTableAt[] {
    return this.files.map((file) => this.tableOf(file));
  }

  /** The scatter of a system's steps, from points that were measured several times. */
  noise(system: string): StepNoise {
    const own = this.files.filter((file) => file.system === system);
    const { decode, prefill } = repeatedRatios(own.map((file) => this.tableOf(file)));
    return { decode: noiseFrom(decode), prefill: noiseFrom(prefill) };
  }

  /** Sum of the contents of all files, computed once. */
  sum(): string {
    return (this.taken ??= this.takeSum());
  }

  describe(system: string): string | undefined {
    const names = this.files.filter((file) => file.system === system).map(({ name }) => name);
    return names.length === 0 ? undefined : `own tables of ${this.folder} (${names.join(', ')})`;
  }

  private takeSum(): string {
    const hash = createHash('sha256').update(JSON.stringify(this.systems));
    for (const { file, system, name } of this.files) {
      hash.update(`\n${system}/${name}\n`).update(readContent(file));
    }
    return hash.digest('hex').slice(0, 16);
  }

  private tableOf({ file, system, name }: TableFile): OwnTableAt {
    const layout = layoutOf(name)!;
    const table = readOwnTable(readContent(file).toString('utf8'), layout);
    if (!isProblem(table)) return { system, name, layout, table };
    throw new UsageError(`${file}:${table.line}: ${table.complaint}.`);
  }

  private readSystems(): Readonly<Record<string, unknown>> {
    const shipped = JSON.parse(this.shipped.read(SYSTEMS) ?? '{}') as Record<string, unknown>;
    const path = join(this.folder, SYSTEMS);
    if (!existsSync(path)) return shipped;
    const own = parsed(path);
    if (!isObject(own)) throw new UsageError(`${path} must be a map of systems.`);
    for (const [name, system] of Object.entries(own)) {
      const missing = missingFigure(system);
      if (missing === undefined) continue;
      throw new UsageError(`${path}: ${name} lacks ${missing}, a number above 0.`);
    }
    return { ...shipped, ...own };
  }

  private listFiles(): TableFile[] {
    const folders = readdirSync(this.folder, { withFileTypes: true });
    return folders
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name: system }) => {
        if (!Object.hasOwn(this.systems, system)) throw this.unknownSystem(system);
        const names = readdirSync(join(this.folder, system)).sort();
        return names.flatMap((name) => this.fileOf(system, name));
      })
      .sort((a, b) => (a.file < b.file ? -1 : 1));
  }

  private fileOf(system: string, fileName: string): TableFile[] {
    const name = TABLE.exec(fileName)?.[1];
    if (name === undefined) return [];
    const file = join(this.folder, system, fileName);
    if (layoutOf(name) !== undefined) return [{ file, system, name }];
    throw new UsageError(
      `${file} is not named after a table of composed steps (data/operators/README.md): ` +
        `${OPERATOR_NAMES.join(', ')}, each with its formats, as gemm.bf16.csv.`,
    );
  }

  private unknownSystem(name: string): UsageError {
    return new UsageError(
      `${join(this.folder, name)} is not the folder of a known system ` +
        `(${Object.keys(this.systems).join(', ')}); describe it in ` +
        `${join(this.folder, SYSTEMS)}.`,
    );
  }
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function readContent(file: string): Buffer {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > BYTES_MAX) throw new UsageError(`${file} is larger than ${BYTES_MAX} bytes.`);
  try {
    const content = readFileSync(file);
    return file.endsWith('.gz') ? gunzipSync(content) : content;
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}.`);
  }
}
