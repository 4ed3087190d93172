// The users whom `npm run verify` makes businesses for. Nobody is told when these use up a limit.

export const FIRST_VERIFICATION_USER = 9_000_000_000;
export const VERIFICATION_USERS = 10;
