export const SEARCH_SPACE: string;
export const SEARCH_OPTIONS: readonly string[];
