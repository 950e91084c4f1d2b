/** The format of answers: that of api.openai.com, or that of a vLLM server. */
export type Dialect = 'openai' | 'vllm';
