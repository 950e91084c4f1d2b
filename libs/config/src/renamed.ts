/** Former names of options, with dashes, and the sentence about each. */
const RENAMED: Readonly<Record<string, string>> = {
  'dataset-path':
    'the file of answers is now --answers-path (answers_path), and --dataset-path is the file of ' +
    'requests of bench, replay and plan.',
};

/** What has become of a former option; undefined for every other name. */
export function renamedTo(name: string): string | undefined {
  return RENAMED[name.toLowerCase().replaceAll('_', '-')];
}
