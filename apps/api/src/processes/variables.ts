/** The place of an API process among those of its port, from 0. */
export const PLACE_VARIABLE = 'BATON_API_PLACE';
/** The key of administration that is made for a run, the same for all processes of a port. */
export const GENERATED_KEY_VARIABLE = 'BATON_MADE_ADMIN_KEY';
/** `no` when there is no supervisor that could start engines. */
export const SUPERVISED_VARIABLE = 'BATON_SUPERVISED';
