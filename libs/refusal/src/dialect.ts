/** `openai`: as api.openai.com answers. `vllm`: as a vLLM server does. */
export type Dialect = 'openai' | 'vllm';
