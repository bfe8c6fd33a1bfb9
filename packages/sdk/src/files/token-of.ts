/**
 * The token at the end of a short URL. Its host is the gateway's idea of where it is; we go to where we found it, so
 * that tunnels and proxies work and no answer can send bytes elsewhere.
 */
export function tokenOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
