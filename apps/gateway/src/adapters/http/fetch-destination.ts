// Refuses to serve a stored file as code (T-09). Clients upload arbitrary files to the origin of our pages, and the
// pages' policy lets a browser run code of that origin. Browsers report the purpose of a request in Sec-Fetch-Dest;
// other programs do not send it.

import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '@svc/service/service-error'

/** Values of Sec-Fetch-Dest that run code, style a page or configure it. */
const CODE = new Set([
  'audioworklet',
  'json',
  'manifest',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
  'xslt',
])
/** Destinations that a page embeds as a document. */
const FRAMES = new Set(['embed', 'fencedframe', 'frame', 'iframe', 'object'])
const SHOWN_IN_FRAMES = /^((audio|image|video)\/|application\/pdf\b)/i

export function refuseAsCode(headers: IncomingHttpHeaders, contentType: string): void {
  const destination = String(headers['sec-fetch-dest'] ?? '').toLowerCase()
  const isRefused = CODE.has(destination) || (FRAMES.has(destination) && !SHOWN_IN_FRAMES.test(contentType))
  if (!isRefused) return
  throw new ServiceError('LOADED_AS_CODE', `a stored file cannot be loaded as ${destination}`, {
    hint: 'download it, open it, or embed it as an image, audio or video; host code elsewhere',
  })
}
