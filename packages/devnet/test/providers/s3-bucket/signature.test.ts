import { describe, expect, it } from 'vitest'
import { requireSignature } from '../../../src/providers/s3-bucket/signature.ts'

// The examples are from https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and, for the
// signed URL, https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const HOST = 'examplebucket.s3.amazonaws.com'
const NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const NOW = Date.parse('2013-05-24T00:00:00Z')
const SCOPE = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'

function example(method: string, path: string, headers: Record<string, string>, signed: string, signature: string) {
  const payload = headers['x-amz-content-sha256'] ?? NOTHING
  const time = { 'x-amz-date': '20130524T000000Z', 'x-amz-content-sha256': payload }
  const authorization = `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=${signed},Signature=${signature}`
  return { method, url: new URL(`https://${HOST}${path}`), headers: { host: HOST, ...time, ...headers, authorization } }
}

const GET = example(
  'GET',
  '/test.txt',
  { range: 'bytes=0-9' },
  'host;range;x-amz-content-sha256;x-amz-date',
  'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
)
const PUT = example(
  'PUT',
  '/test%24file.text',
  {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
  },
  'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
  '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
)
const LIST = example(
  'GET',
  '/?max-keys=2&prefix=J',
  {},
  'host;x-amz-content-sha256;x-amz-date',
  '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
)
const ADDRESS = {
  method: 'GET',
  url: new URL(
    `https://${HOST}/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  ),
  headers: { host: HOST },
}

function verdict(request: typeof GET | typeof ADDRESS, now = NOW): string {
  try {
    requireSignature(request, CREDENTIALS, now)
    return 'let in'
  } catch (error) {
    return (error as Error).message
  }
}

describe('the signature of an S3 request', () => {
  it('equals the signature in the examples of AWS', () => {
    expect([GET, PUT, LIST, ADDRESS].map((request) => verdict(request))).toEqual(Array(4).fill('let in'))
  })

  it('covers the method, the URL and the signed headers', () => {
    const changed = [
      { ...GET, method: 'DELETE' },
      { ...GET, url: new URL(`https://${HOST}/other.txt`) },
      { ...GET, url: new URL(`https://${HOST}/test.txt?uploads=`) },
      { ...GET, headers: { ...GET.headers, range: 'bytes=0-10' } },
      { ...GET, headers: { ...GET.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
      { ...GET, headers: { ...GET.headers, 'x-amz-meta-new': 'unsigned' } },
      { ...ADDRESS, method: 'PUT' },
    ]
    expect(changed.map((request) => verdict(request))).toEqual(changed.map(() => 'SignatureDoesNotMatch'))
  })

  it('is valid only for a limited time', () => {
    const minutes = 60_000
    expect(verdict(GET, NOW + 15 * minutes)).toBe('let in')
    for (const off of [-15 * minutes - 1, 15 * minutes + 1])
      expect(verdict(GET, NOW + off)).toBe('RequestTimeTooSkewed')
    expect(verdict(ADDRESS, NOW + 86_399_999)).toBe('let in')
    expect(verdict(ADDRESS, NOW + 86_400_000)).toBe('AccessDenied')
  })

  it('is required, and must be made with a known key for this region', () => {
    const { authorization, ...unsigned } = GET.headers
    const signedAs = (scope: string) => ({
      ...GET,
      headers: { ...GET.headers, authorization: authorization.replace(SCOPE, scope) },
    })
    expect(verdict({ ...GET, headers: { ...unsigned, authorization: '' } })).toBe('AccessDenied')
    expect(verdict(signedAs(SCOPE.replace('AKIA', 'OTHER')))).toBe('InvalidAccessKeyId')
    expect(verdict(signedAs(SCOPE.replace('us-east-1', 'eu-1')))).toBe('AuthorizationHeaderMalformed')
  })
})
