import { AwsV4Signer } from 'aws4fetch'
import type { Request } from '../http/exchange.ts'
import type { StorjSettings } from './settings.ts'

/** Shows with each request who we are (AWS signature version 4). */
export interface Signer {
  /** `sha256` of the body in hex, null where it is not known before the body is sent. */
  sign(request: Request, sha256: string | null): Promise<Request>
  /** An address with which anybody may make this one request, with these headers exactly. */
  presign(request: Request, expiresInSeconds: number): Promise<string>
}

export function createSigner({ accessKeyId, secretAccessKey, region }: StorjSettings): Signer {
  const who = { accessKeyId, secretAccessKey, region, service: 's3', cache: new Map<string, ArrayBuffer>() }
  return {
    async sign(request, sha256) {
      const payload = { 'x-amz-content-sha256': sha256 ?? 'UNSIGNED-PAYLOAD' }
      const signer = new AwsV4Signer({ ...who, ...request, headers: { ...request.headers, ...payload } })
      const { headers } = await signer.sign()
      return { ...request, headers: Object.fromEntries(headers) }
    },
    async presign(request, expiresInSeconds) {
      const url = new URL(request.url)
      url.searchParams.set('X-Amz-Expires', `${expiresInSeconds}`)
      const signer = new AwsV4Signer({ ...who, ...request, url: url.href, signQuery: true, allHeaders: true })
      const signed = await signer.sign()
      // A space is signed as %20, which not every store takes a plus for.
      return signed.url.href.replaceAll('+', '%20')
    },
  }
}
