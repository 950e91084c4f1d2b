import { type ClassOptions, parseSlo, type Slo, SloError } from '@baton/analysis';
import { UsageError } from '@baton/config';
import { rowName, type Workload } from '@baton/workload';

/** Latency targets by class. */
export type ClassSlos = ReadonlyMap<string, Slo>;

const CLASS_HEADER = 'x-slo-class';
/** The header with the tenant of a request, for servers without keys. */
const TENANT_HEADER = 'x-gateway-inference-fairness-id';

/**
 * Reads one `interactive:ttft=500ms,tpot=50ms` per class.
 *
 * @throws UsageError
 */
export function readClassSlos(given: readonly string[]): ClassSlos {
  return new Map(given.map(readOne));
}

function readOne(text: string): readonly [string, Slo] {
  const [, name, bounds] = /^([^:\s]+):(.+)$/.exec(text) ?? [];
  if (name === undefined || bounds === undefined) {
    throw new UsageError(
      `--slo-class takes a class and its bounds, for example interactive:ttft=500ms; '${text}' ` +
        'is not.',
    );
  }
  try {
    return [name, parseSlo(bounds)];
  } catch (error) {
    if (error instanceof SloError) throw new UsageError(`--slo-class: ${error.message}`);
    throw error;
  }
}

/** The classes of the workload. Undefined: it has none. Requests without a class are left out. */
export function classesOf({ sloClass }: Workload, slos: ClassSlos): ClassOptions | undefined {
  if (sloClass === undefined) return undefined;
  const classes = sloClass.names.map((name) => ({ name, slo: slos.get(name) ?? {} }));
  return { classes, classOf: (row) => rowName(sloClass, row) ?? '' };
}

/** The headers with the class and the tenant of a request. */
export function headersOf({ sloClass, tenant }: Workload, row: number): Record<string, string> {
  const [ofClass, ofTenant] = [rowName(sloClass, row), rowName(tenant, row)];
  return {
    ...(ofClass !== undefined && { [CLASS_HEADER]: ofClass }),
    ...(ofTenant !== undefined && { [TENANT_HEADER]: ofTenant }),
  };
}
