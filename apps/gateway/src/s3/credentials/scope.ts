// What a new credential may open.

import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import type { Context } from '../../context.ts'
import { folderProblem } from '../../files/name-files.ts'

export function requireFolder(context: Context, prefix: string): string {
  if (prefix === '') return prefix
  const problem = folderProblem(context, prefix)
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
