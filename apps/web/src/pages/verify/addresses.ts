// Addresses that a visitor types, or that a link contains.

/** An address that the policy of the page allows: https, or http on this machine. */
export function webAddress(text: string): URL | null {
  const url = URL.parse(text.trim())
  if (!url || url.username || url.password) return null
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1'
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? url : null
}
