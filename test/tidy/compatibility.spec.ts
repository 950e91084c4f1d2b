import { describe, expect, it } from 'vitest';
import { faultOf, linkedTests, type NamedTest, quotedTests } from './named-tests';
import { filesBelow, read } from './repository';

interface Row {
  /** The line of the table. */
  readonly line: string;
  readonly section: string;
  readonly tests: readonly NamedTest[];
}

/** Rows of all tables of a page that are neither head nor rule. */
function rowsOf(page: string): Row[] {
  let section = '';
  let letters = new Map<string, string>();
  return read(page)
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('## ')) {
        section = line.slice(3);
        letters = new Map();
      }
      for (const [, letter, path] of line.matchAll(/\b([A-Z]) = `([^`]+)`/g)) {
        letters.set(letter!, path!);
      }
      if (!line.startsWith('| ') || /^\| (field |endpoint |---)/.test(line)) return [];
      return [
        { line, section, tests: [...linkedTests(page, line), ...quotedTests(line, letters)] },
      ];
    });
}

/**
 * Fields in the rows: code in any column except that of the tests, `stream_options.include_usage`
 * as two.
 */
function fieldsIn(rows: readonly Row[]): ReadonlySet<string> {
  const code = rows.flatMap(({ line }) =>
    line
      .split(' | ')
      .slice(0, -1)
      .join()
      .match(/`[^`]+`/g),
  );
  return new Set(code.flatMap((text) => text?.match(/[a-z][a-z_0-9]*/g) ?? []));
}

/** Classes of whole bodies, and the bases of their fields. */
const BODY = /^(?:export )?class (?:\w+Request|\w+Fields|CreateResponse)\b[^]*?^}/gm;

/** Fields that the classes of request bodies in these files declare. */
function declaredIn(path: string): string[] {
  const files = path.endsWith('.ts')
    ? [path]
    : filesBelow(path).filter((f) => f.endsWith('.dto.ts'));
  return files.flatMap((file) =>
    (read(file).match(BODY) ?? []).flatMap((body) =>
      [...body.matchAll(/^ {2}(?:@.*\) )?([a-z_0-9]+)[!?]: /gm)].map((match) => match[1]!),
    ),
  );
}

const PAGES = ['docs/compatibility.md', 'docs/compatibility-endpoints.md'] as const;

describe.each(PAGES)('%s', (page) => {
  const rows = rowsOf(page);

  it('names a test in every row', () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(({ tests }) => tests.length === 0).map(({ line }) => line)).toEqual([]);
  });

  it('names tests that exist', () => {
    expect(
      rows
        .flatMap(({ tests }) => tests)
        .map(faultOf)
        .filter((fault) => fault !== ''),
    ).toEqual([]);
  });

  it('marks every row as honoured, accepted or refused', () => {
    const isSaid = /honoured|accepted|refused|`input` is/;
    const silent = rows.filter(({ line, section }) => !isSaid.test(`${section} ${line}`));
    expect(silent.map(({ line }) => line)).toEqual([]);
  });
});

/** The classes of fields and the pages with their rows. */
const DECLARED: readonly (readonly [page: string, section: RegExp, path: string])[] = [
  [PAGES[0], /^Chat and completions/, 'libs/openai/src/request'],
  [PAGES[1], /^Pooling/, 'libs/openai/src/pooling/pooling.dto.ts'],
  [PAGES[1], /^Pooling/, 'libs/openai/src/pooling/score.dto.ts'],
  [PAGES[1], /^Responses/, 'libs/responses/src'],
  [PAGES[1], /^Responses/, 'libs/responses/src/conversations.ts'],
  [PAGES[1], /^Tokens/, 'libs/openai/src/token-api'],
  [PAGES[1], /^Tokens/, 'libs/openai/src/token-api/generate.ts'],
  [PAGES[1], /^Tokens/, 'libs/openai/src/token-api/derender.ts'],
  [PAGES[1], /^Anthropic/, 'libs/openai/src/anthropic'],
];

describe('every field has a row', () => {
  it.each(DECLARED)('on %s, %s, that %s declares', (page, section, path) => {
    const listed = fieldsIn(rowsOf(page).filter((row) => section.test(row.section)));
    const declared = declaredIn(path);
    expect(declared.length).toBeGreaterThan(1);
    expect(declared.filter((field) => !listed.has(field))).toEqual([]);
  });

  it('in vLLM’s documentation of chat and completions', () => {
    const listed = fieldsIn(rowsOf(PAGES[0]));
    expect(VLLM_FIELDS.filter((field) => !listed.has(field))).toEqual([]);
  });
});

/**
 * The fields of vLLM's CompletionRequest and ChatCompletionRequest (vllm/entrypoints/openai), as of
 * August 2026.
 */
const VLLM_FIELDS = [
  ...['model', 'prompt', 'prompt_embeds', 'max_tokens', 'n', 'temperature', 'top_p', 'top_k'],
  ...['min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty', 'length_penalty'],
  ...['use_beam_search', 'seed', 'stop', 'stop_token_ids', 'include_stop_str_in_output'],
  ...['ignore_eos', 'min_tokens', 'skip_special_tokens', 'spaces_between_special_tokens', 'echo'],
  ...['logprobs', 'prompt_logprobs', 'logprob_token_ids', 'logit_bias', 'bad_words'],
  ...['allowed_token_ids', 'stream', 'stream_options', 'suffix', 'user', 'truncate_prompt_tokens'],
  ...['truncation_side', 'add_special_tokens', 'response_format', 'structured_outputs', 'priority'],
  ...['request_id', 'session_id', 'return_tokens_as_token_ids', 'return_token_ids'],
  ...['return_token_offsets', 'cache_salt', 'kv_transfer_params', 'ec_transfer_params'],
  ...['vllm_xargs', 'repetition_detection', 'thinking_token_budget', 'stream_interval'],
  ...['routed_experts_prompt_start', 'messages', 'max_completion_tokens', 'top_logprobs', 'tools'],
  ...['tool_choice', 'parallel_tool_calls', 'reasoning_effort', 'include_reasoning'],
  ...['add_generation_prompt', 'continue_final_message', 'documents', 'chat_template'],
  ...['chat_template_kwargs', 'media_io_kwargs', 'mm_processor_kwargs', 'return_prompt_text'],
  ...['return_assistant_tokens_mask'],
];
