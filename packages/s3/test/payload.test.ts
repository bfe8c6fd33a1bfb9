import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openPayload } from '../src/payload.ts'
import { arriving, encodeBody } from './chunked-body.ts'
import { codeOf, collect, crc32Of, open, SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER } from './open-body.ts'
import { ACCESS_KEY_ID, check, presign, SCOPE, sign } from './signing.ts'

describe("the examples in AWS's documentation", () => {
  const a = (length: number) => 'a'.repeat(length)

  async function read(headers: Record<string, string>, signature: string, body: string): Promise<Buffer> {
    const names = ['host', 'x-amz-date', ...Object.keys(headers)].sort().join(';')
    const head = {
      method: 'PUT',
      target: '/examplebucket/chunkObject.txt',
      headers: {
        ...{ host: 's3.amazonaws.com', 'x-amz-date': '20130524T000000Z', ...headers },
        authorization: `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/${SCOPE},SignedHeaders=${names},Signature=${signature}`,
      },
    }
    return collect(openPayload(head, check(head), arriving(Buffer.from(body))))
  }

  it('T-93 ADD-41 signed chunks are accepted', async () => {
    const headers = {
      'content-encoding': 'aws-chunked',
      'content-length': '66824',
      'x-amz-content-sha256': SIGNED,
      'x-amz-decoded-content-length': '66560',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    }
    const body = [
      `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${a(65_536)}\r\n`,
      `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${a(1024)}\r\n`,
      '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n',
    ].join('')
    const seed = '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9'
    expect(body.length).toBe(66_824)
    expect(await read(headers, seed, body)).toEqual(Buffer.from(a(66_560)))
  })

  it('T-93 ADD-41 signed chunks and a trailer are accepted', async () => {
    const headers = {
      'content-encoding': 'aws-chunked',
      'x-amz-content-sha256': SIGNED_TRAILER,
      'x-amz-decoded-content-length': '66560',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-trailer': 'x-amz-checksum-crc32c',
    }
    const body = [
      `10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n${a(65_536)}\r\n`,
      `400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n${a(1024)}\r\n`,
      '0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n',
      'x-amz-checksum-crc32c:sOO8/Q==\r\n',
      'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n',
    ].join('')
    const seed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e'
    expect(await read(headers, seed, body)).toEqual(Buffer.from(a(66_560)))
  })
})

const chunkLists = fc.array(
  fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
  { maxLength: 8 },
)
const arrivals = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 })

describe('any bytes', () => {
  it.each([SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER])(
    'T-93 ADD-41 arrive complete as %s, however they are split',
    async (form) => {
      await fc.assert(
        fc.asyncProperty(chunkLists, arrivals, async (chunks, lengths) => {
          const whole = Buffer.concat(chunks)
          const hasTrailer = form !== SIGNED
          const headers = {
            'x-amz-content-sha256': form,
            'x-amz-decoded-content-length': String(whole.length),
            ...(hasTrailer && { 'x-amz-trailer': 'x-amz-checksum-crc32' }),
          }
          const trailers = hasTrailer ? [`x-amz-checksum-crc32:${crc32Of(whole)}`] : []
          const payload = await open(
            headers,
            (seed) => encodeBody({ chunks, trailers, ...(form !== UNSIGNED_TRAILER && { seed }) }),
            lengths,
          )
          expect(payload.size).toBe(whole.length)
          expect(await collect(payload)).toEqual(whole)
          expect(payload.checksums()).toEqual(hasTrailer ? { crc32: crc32Of(whole) } : {})
        }),
        { numRuns: 60 },
      )
    },
  )

  it('T-93 are rejected with one changed bit of a signed body', async () => {
    const chunks = [Buffer.from('first chunk'), Buffer.from('second')]
    const headers = {
      'x-amz-content-sha256': SIGNED_TRAILER,
      'x-amz-decoded-content-length': '17',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    }
    const trailers = [`x-amz-checksum-crc32:${crc32Of(Buffer.concat(chunks))}`]
    const body = async (seed: string) => encodeBody({ chunks, trailers, seed })
    const { length } = await body('0'.repeat(64))
    // The empty line at the end is not signed and carries no information.
    for (let at = 0; at < length - 4; at++) {
      const changed = async (seed: string) => {
        const bytes = await body(seed)
        bytes[at] = (bytes[at] as number) ^ 1
        return bytes
      }
      expect([at, await codeOf(open(headers, changed))]).not.toEqual([at, 'accepted'])
    }
  })

  it('T-93 are rejected when truncated anywhere before their last line', async () => {
    const chunks = [Buffer.from('first chunk'), Buffer.from('second')]
    const headers = { 'x-amz-content-sha256': SIGNED, 'x-amz-decoded-content-length': '17' }
    const { length } = await encodeBody({ chunks, seed: '0'.repeat(64) })
    for (let end = 0; end < length - 2; end++) {
      const cut = async (seed: string) => (await encodeBody({ chunks, seed })).subarray(0, end)
      expect([end, await codeOf(open(headers, cut))]).toEqual([end, 'IncompleteBody'])
    }
  })
})

describe('heads that contradict themselves', () => {
  const signed = { 'x-amz-content-sha256': SIGNED, 'x-amz-decoded-content-length': '5' }
  const trailing = { 'x-amz-content-sha256': UNSIGNED_TRAILER, 'x-amz-decoded-content-length': '5' }
  const crc = { 'x-amz-checksum-crc32': 'AAAAAA==' }

  it.each<[string, Record<string, string>, string]>([
    ['chunks without a decoded length', { 'x-amz-content-sha256': SIGNED }, 'MissingContentLength'],
    ['an invalid decoded length', { ...signed, 'x-amz-decoded-content-length': '-1' }, 'InvalidArgument'],
    ['a decoded length twice', { ...signed, 'x-amz-decoded-content-length': '5, 5' }, 'InvalidArgument'],
    ['a trailer form without a trailer', trailing, 'InvalidRequest'],
    ['a trailer in a form without', { ...signed, 'x-amz-trailer': 'x-amz-checksum-crc32' }, 'InvalidRequest'],
    ['a trailer that is not a checksum', { ...trailing, 'x-amz-trailer': 'x-amz-meta-a' }, 'InvalidRequest'],
    [
      'a checksum before and after the body',
      { ...trailing, ...crc, 'x-amz-trailer': 'x-amz-checksum-sha1' },
      'InvalidRequest',
    ],
    ['two checksums', { ...crc, 'x-amz-checksum-crc32c': 'AAAAAA==' }, 'InvalidRequest'],
    ['a checksum that is not base64', { 'x-amz-checksum-crc32': 'AAAAAA' }, 'InvalidRequest'],
    ['a checksum of another length', { 'x-amz-checksum-sha256': 'AAAAAA==' }, 'InvalidRequest'],
    ['an unknown checksum', { 'x-amz-checksum-xxhash64': 'AAAAAA==' }, 'NotImplemented'],
    ['an algorithm without its checksum', { 'x-amz-sdk-checksum-algorithm': 'CRC32' }, 'InvalidRequest'],
    ['an algorithm with another checksum', { ...crc, 'x-amz-sdk-checksum-algorithm': 'SHA1' }, 'InvalidRequest'],
    ['an invalid Content-MD5', { 'content-md5': 'AAAA' }, 'InvalidDigest'],
  ])('T-93 %s', async (_, headers, code) => {
    expect(await codeOf(open(headers, Buffer.alloc(0)))).toBe(code)
  })
})

describe("the client's claims about the bytes", () => {
  const body = Buffer.from('hello')
  const digest = (algorithm: string) => createHash(algorithm).update(body).digest('base64')
  const hex = createHash('sha256').update(body).digest('hex')
  const unsigned = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  const hashed = { 'x-amz-content-sha256': hex }
  const crc = { ...unsigned, 'x-amz-checksum-crc32': crc32Of(body) }

  it.each<[string, Record<string, string>, string]>([
    ['its hash', hashed, 'accepted'],
    ['another hash', { 'x-amz-content-sha256': '00'.repeat(32) }, 'XAmzContentSHA256Mismatch'],
    ['nothing', unsigned, 'accepted'],
    ['its MD5', { ...unsigned, 'content-md5': digest('md5') }, 'accepted'],
    ['another MD5', { ...unsigned, 'content-md5': 'A'.repeat(22).concat('==') }, 'BadDigest'],
    ['its CRC32', { ...crc, 'x-amz-sdk-checksum-algorithm': 'CRC32' }, 'accepted'],
    ['its CRC32C', { ...unsigned, 'x-amz-checksum-crc32c': 'mnG7TA==' }, 'accepted'],
    ['its CRC64NVME', { ...unsigned, 'x-amz-checksum-crc64nvme': 'M3eFcAZSQlc=' }, 'accepted'],
    ['its SHA-1', { ...unsigned, 'x-amz-checksum-sha1': digest('sha1') }, 'accepted'],
    ['its SHA-256 and its hash', { ...hashed, 'x-amz-checksum-sha256': digest('sha256') }, 'accepted'],
    ['another CRC32C', { ...unsigned, 'x-amz-checksum-crc32c': 'AAAAAA==' }, 'BadDigest'],
    ['another SHA-256', { ...hashed, 'x-amz-checksum-sha256': digest('sha256').replace('L', 'M') }, 'BadDigest'],
    ['a composite checksum', { ...unsigned, 'x-amz-checksum-crc32': `${crc32Of(body)}-1` }, 'BadDigest'],
  ])('T-93 ADD-41 %s', async (_, headers, code) => {
    expect(await codeOf(open(headers, body))).toBe(code)
  })

  it('T-93 the checksum of an empty body in a presigned URL is rejected with the setting that avoids it', async () => {
    const headers = { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-sdk-checksum-algorithm': 'CRC32' }
    const head = await presign({ method: 'PUT', headers })
    await expect(collect(openPayload(head, check(head), arriving(body)))).rejects.toMatchObject({
      code: 'BadDigest',
      hint: expect.stringContaining('WHEN_REQUIRED'),
    })
    expect(await collect(openPayload(head, check(head), arriving(Buffer.alloc(0))))).toEqual(Buffer.alloc(0))
  })

  it('ADD-41 the checksum of an object is not compared with the list of its parts', async () => {
    const headers = { ...unsigned, 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-type': 'FULL_OBJECT' }
    const head = await sign({ method: 'POST', query: { uploadId: 'u' }, headers })
    expect(await collect(openPayload(head, check(head), arriving(body)))).toEqual(body)
  })

  it('ADD-41 the size is the length of the content, or unknown', async () => {
    const payload = await open({ ...unsigned, 'content-length': '5' }, body)
    expect([payload.size, (await open(unsigned, body)).size]).toEqual([5, null])
  })
})
