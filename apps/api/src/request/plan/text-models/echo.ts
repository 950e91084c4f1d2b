import { type TextPrompt, lastOfUser, type Reply, type TextModel } from './text-model';

/** Answers with the last user message, or the prompt of a completion. */
export const ECHO: TextModel = {
  replies(prompts) {
    return Promise.resolve(prompts.map(echoOf));
  },
  stopWatching() {},
};

function echoOf({ said }: TextPrompt): Reply {
  const answer = { content: lastOfUser(said) };
  return { answers: () => answer };
}
