// The comparison with vLLM's scheduler needs Python, so it is not part of the usual run.
import base from '../../vitest.config.mts';

const include = ['test/vllm-scheduler/*.check.ts'];
export default { ...base, test: { ...base.test, include, testTimeout: 3_600_000 } };
