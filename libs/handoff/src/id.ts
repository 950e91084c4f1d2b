/** What requests and engines go by: strings where names cross processes, small integers where one process counts them itself. */
export type AnyId = string | number;
