// What a browser is going to do with a file (T-09). Strangers store files on the origin of our pages, whose policy lets
// them run code of that origin: a file must never be that code. Programs that are no browsers do not say.

import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '@svc/service/service-error'

/** Values of Sec-Fetch-Dest: what runs, styles or sets up a page. */
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
/** What a page shows as a document inside of it. */
const FRAMES = new Set(['embed', 'fencedframe', 'frame', 'iframe', 'object'])
const SHOWN_IN_FRAMES = /^((audio|image|video)\/|application\/pdf\b)/i

export function refuseAsCode(headers: IncomingHttpHeaders, contentType: string): void {
  const destination = String(headers['sec-fetch-dest'] ?? '').toLowerCase()
  const isRefused = CODE.has(destination) || (FRAMES.has(destination) && !SHOWN_IN_FRAMES.test(contentType))
  if (!isRefused) return
  throw new ServiceError('LOADED_AS_CODE', `a stored file is not served to be loaded as ${destination}`, {
    hint: 'fetch it, open it, or show it as a picture, sound or film; host code elsewhere',
  })
}
