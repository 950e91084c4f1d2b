/**
 * Special tokens of all chat templates here. A vocabulary that lacks one gets an id for it, as one
 * token. That id depends on the marker's place in this list: append, never reorder.
 */
export const MARKERS = [
  ...['<|endoftext|>', '<|im_start|>', '<|im_end|>'],
  ...['<think>', '</think>', '<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'],
  ...['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  ...['<|python_tag|>', '<s>', '</s>', '[INST]', '[/INST]', '[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]'],
  ...['[AVAILABLE_TOOLS]', '[/AVAILABLE_TOOLS]', '[TOOL_RESULTS]', '[/TOOL_RESULTS]'],
  ...['[TOOL_CALLS]', '[ARGS]', '<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜User｜>'],
  ...['<｜Assistant｜>', '<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>', '<｜tool▁call▁begin｜>'],
  ...[
    '<｜tool▁call▁end｜>',
    '<｜tool▁sep｜>',
    '<｜tool▁outputs▁begin｜>',
    '<｜tool▁outputs▁end｜>',
  ],
  ...['<｜tool▁output▁begin｜>', '<｜tool▁output▁end｜>', '<bos>', '<eos>', '<start_of_turn>'],
  ...['<end_of_turn>', '<|start|>', '<|end|>', '<|message|>', '<|channel|>', '<|constrain|>'],
  ...['<|call|>', '<|return|>', '<|startoftext|>'],
] as const;

export type Marker = (typeof MARKERS)[number];
