import { isIP } from 'node:net'
import { mayBePublicHost } from '@svc/protocol/public-address'
import { SourceError } from './source-error.ts'

/** The URL parser drops control characters and turns backslashes; others read such text as the URL of another host. */
const AMBIGUOUS = /[\p{Cc}\\]/u

/** A URL that may be fetched, as far as its text tells; which addresses its host has is another question. */
export function parseSourceUrl(text: string, base?: URL): URL {
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text, base)
  if (url?.protocol !== 'https:') throw new SourceError('not_https', 'only https:// URLs are fetched')
  if (url.username || url.password)
    throw new SourceError('not_https', 'only https:// URLs without a user name and password are fetched')
  if (url.port) throw new SourceError('blocked_host', 'only port 443 is fetched from')
  if (!isIP(hostOf(url)) && !mayBePublicHost(hostOf(url)))
    throw new SourceError('blocked_host', 'only public hosts are fetched from')
  url.hash = ''
  return url
}

/** A host name, or an IP address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}
