/**
 * The address that opens the console of a service with a token. Browsers send no fragment to a server, and the page takes
 * the token out of the address at once. Only for a terminal: whoever reads it has the token.
 */
export function formatConsoleLink(serviceUrl: string, token: string): string {
  return `${serviceUrl}/#token=${encodeURIComponent(token)}`;
}
