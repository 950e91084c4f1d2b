import { planCsv, type PlanDocument, planReport } from '@baton/planner';
import { htmlReport } from '@baton/report';
import type { NamedContent } from '../replay/result-files';

export function documentJson(document: PlanDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The files of `--out`. */
export async function* planFiles(
  document: PlanDocument,
  heading: { readonly title: string; readonly subtitle: string },
): AsyncGenerator<NamedContent> {
  yield ['plan.json', documentJson(document)];
  yield ['plan.csv', planCsv(document)];
  yield await Promise.resolve(['plan.html', htmlReport(planReport(document, heading))] as const);
}
