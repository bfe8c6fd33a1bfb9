// Addresses that a visitor types, or that stand in a link.

/** As the policy of the page allows: https, and http on this machine. */
export function webAddress(text: string): URL | null {
  const url = URL.parse(text.trim())
  if (!url || url.username || url.password) return null
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1'
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? url : null
}
