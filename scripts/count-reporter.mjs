// A vitest reporter that writes the counts of a run and its failures into the file of TEST_COUNTS,
// and its progress, after each module, into a file beside it. Without TEST_COUNTS it prints the
// counts at the end.
import { writeFileSync } from 'node:fs';

export default class CountReporter {
  modules = 0;
  ended = 0;
  passed = 0;
  failed = 0;

  onTestRunStart(specifications) {
    this.modules = specifications.length;
  }

  onTestModuleEnd(module) {
    this.ended += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') this.passed += 1;
      else if (state === 'failed') this.failed += 1;
    }
    if (!process.env.TEST_COUNTS) return;
    const files = `${this.ended} of ${this.modules} files`;
    const text = `${files}, ${this.passed} passed, ${this.failed} failed`;
    writeFileSync(`${process.env.TEST_COUNTS}.progress`, text);
  }

  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
    const fail = (name, errors) => {
      counts.failed += 1;
      counts.failures.push(`${name}: ${firstLine(errors)}`);
    };
    for (const error of unhandledErrors) fail('outside of a test', [error]);
    for (const module of modules) {
      const file = module.relativeModuleId;
      if (module.state() === 'failed' && module.errors().length > 0) fail(file, module.errors());
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'failed') fail(`${file} > ${test.fullName}`, errors);
        else counts[state === 'pending' ? 'skipped' : state] += 1;
      }
    }
    if (process.env.TEST_COUNTS) writeFileSync(process.env.TEST_COUNTS, JSON.stringify(counts));
    else
      process.stdout.write(`${counts.passed} passed, ${counts.failed + counts.skipped} failed\n`);
  }
}

function firstLine(errors) {
  return String(errors[0]?.message ?? 'no message').split('\n', 1)[0];
}
