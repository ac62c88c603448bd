/** The name under which the token of a call may stand in its URL: no query reads what is given so. */
export const TOKEN_PARAMETER = 'api_key';
