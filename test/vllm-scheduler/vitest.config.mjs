// The comparison with vLLM's scheduler needs Python, so it is not part of the usual run.
import base from '../../vitest.config.mts';

const include = ['test/vllm-scheduler/*.check.ts'];
const own = { projects: undefined, include, testTimeout: 3_600_000 };
export default { ...base, test: { ...base.test, ...own } };
