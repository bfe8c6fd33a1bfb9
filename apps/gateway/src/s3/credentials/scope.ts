// What a new credential may open.

import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { filenameProblem } from '@svc/protocol/filename'
import type { Context } from '../../context.ts'

/** Whole folders only: `photos` would also open `photos-private/`. */
export function requireFolder({ config }: Context, prefix: string): string {
  if (prefix === '') return prefix
  const problem = prefix.endsWith('/')
    ? filenameProblem(prefix.slice(0, -1), config.storage.systemPrefix)
    : "must end with '/'"
  if (problem) throw new ValidationError({ loc: ['body', 'prefix'], msg: problem })
  return prefix
}

export function requireDoor({ config }: Context): void {
  if (config.s3.enabled) return
  throw new ServiceError('S3_DISABLED', 'this gateway serves no S3 clients', {
    hint: 'its operator can set S3_DOOR=on; until then, use signed requests and short URLs',
  })
}

/** Where clients find the door, and what they call the locker there. */
export function connectionOf({ config: { s3, http } }: Context, lockerId: string) {
  return { endpoint: endpointOf(s3.host, http.baseUrl), region: s3.region, bucket: lockerId }
}

/** A host of its own has the scheme and the port of the gateway. */
function endpointOf(host: string | null, baseUrl: string): string {
  if (host === null) return `${baseUrl}/s3`
  const { protocol, port } = new URL(baseUrl)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}
