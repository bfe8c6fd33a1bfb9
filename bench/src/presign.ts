import { createHash, createHmac } from 'node:crypto'

export interface S3Bucket {
  /** The URL of the S3 endpoint with its path. */
  endpoint: string
  bucket: string
  accessKeyId: string
  secret: string
}

const REGION = 'us-east-1'
const LIFE_SECONDS = 86_400

/** A URL that needs no headers and is valid for a day (signature version 4). Names and values must need no encoding. */
export function presign(
  { endpoint, bucket, accessKeyId, secret }: S3Bucket,
  method: string,
  key: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const { origin, host, pathname } = new URL(endpoint)
  const path = `${pathname}/${bucket}${key === '' ? '' : `/${key}`}`
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${REGION}/s3/aws4_request`
  const parameters = {
    ...query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': encodeURIComponent(`${accessKeyId}/${scope}`),
    'X-Amz-Date': time,
    'X-Amz-Expires': String(LIFE_SECONDS),
    'X-Amz-SignedHeaders': 'host',
  }
  const line = Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')
  const request = [method, path, line, `host:${host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const hmac = (of: Buffer | string, part: string) => createHmac('sha256', of).update(part).digest()
  const signingKey = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${secret}`)
  return `${origin}${path}?${line}&X-Amz-Signature=${hmac(signingKey, text).toString('hex')}`
}
