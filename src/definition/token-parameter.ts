/** The URL parameter that may hold the token of a call. Queries cannot read it. */
export const TOKEN_PARAMETER = 'api_key';
