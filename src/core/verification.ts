// Users for whom `npm run verify` creates businesses. Their businesses have no alerts.

export const FIRST_VERIFICATION_USER = 9_000_000_000;
export const VERIFICATION_USERS = 10;
