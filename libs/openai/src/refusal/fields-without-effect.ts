/**
 * Fields without effect in Baton, by the project that documents them. A request with such a field
 * is served, because clients send them by default or to other servers.
 */
export const FIELDS_WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  // OpenAI's API reference of chat completions and completions.
  ...['audio', 'metadata', 'modalities', 'moderation', 'prediction', 'prompt_cache_key'],
  ...['prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'store', 'suffix'],
  ...['verbosity', 'web_search_options'],
  // vLLM's CompletionRequest and ChatCompletionRequest (vllm/entrypoints/openai), also before 0.12.
  ...['add_special_tokens', 'chat_template', 'ec_transfer_params', 'guided_decoding_backend'],
  ...['length_penalty', 'logprob_token_ids', 'media_io_kwargs', 'mm_processor_kwargs'],
  ...['prompt_embeds', 'repetition_detection', 'return_assistant_tokens_mask'],
  ...['return_token_offsets', 'routed_experts_prompt_start', 'session_id', 'skip_special_tokens'],
  ...['spaces_between_special_tokens', 'stream_interval', 'use_beam_search', 'vllm_xargs'],
  // SGLang (python/sglang/srt/entrypoints/openai/protocol.py) and its routers.
  ...['bootstrap_host', 'bootstrap_port', 'bootstrap_room', 'custom_params', 'data_parallel_rank'],
  ...['no_stop_trim', 'return_cached_tokens_details', 'return_hidden_states', 'rid'],
  ...['separate_reasoning', 'session_params', 'stream_reasoning'],
  // TensorRT-LLM (tensorrt_llm/serve/openai_protocol.py) and NVIDIA Dynamo.
  ...['conversation_params', 'detokenize', 'disaggregated_params', 'nvext', 'prompt_token_ids'],
  // Fields of one endpoint that clients send to the other.
  ...['prompt', 'logprobs', 'messages', 'top_logprobs', 'max_completion_tokens', 'tools'],
]);
