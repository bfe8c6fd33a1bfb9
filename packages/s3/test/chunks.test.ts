import { createHash, randomBytes } from 'node:crypto'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, mustEqual } from '@svc/devnet/properties/rules'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../src/errors.ts'
import { openPayload } from '../src/payload.ts'
import { encodeBody } from './chunked-body.ts'
import { codeOf, collect, crc32Of, open, SIGNED, SIGNED_TRAILER, UNSIGNED_TRAILER } from './open-body.ts'
import { check, sign } from './signing.ts'

describe('malformed framing', () => {
  const unsigned = (size: number) => ({
    'x-amz-content-sha256': UNSIGNED_TRAILER,
    'x-amz-decoded-content-length': String(size),
    'x-amz-trailer': 'x-amz-checksum-crc32',
  })
  const trailer = `x-amz-checksum-crc32:${crc32Of(Buffer.from('hello'))}\r\n`

  const end = `0\r\n${trailer}\r\n`
  const whole = '5\r\nhello\r\n0\r\n'

  it.each<[code: string, bodies: string[]]>([
    // Including the lines of minio-go, without the empty one at the end.
    ['accepted', [`5\r\nhello\r\n${end}`, `0005\r\nhello\r\n00${end}`]],
    ['accepted', [`${whole}${trailer.replace('\r', '')}\r\n\r\n`, `${whole}${trailer}`]],
    // Lengths that are invalid, or do not match the chunks.
    [
      'InvalidRequest',
      ['-5', '0x5', '+5', ' 5', '5.0', '', 'f'.repeat(16)].map((length) => `${length}\r\nhello\r\n${end}`),
    ],
    ['InvalidRequest', [`6\r\nhello!\r\n${end}`, `5\r\nhello\r\n1\r\n!\r\n${end}`, '5'.repeat(200_000)]],
    ['InvalidRequest', [`5\r\nhell\r\n${end}`, `4\r\nhello\r\n${end}`, `5;a=b\r\nhello\r\n${end}`]],
    ['InvalidRequest', ['5\nhello\r\n', '5\r\nhello\n', '5\rhello\r\n', '5\r\nhello'].map((chunk) => chunk + end)],
    ['IncompleteBody', [`4\r\nhell\r\n${end}`, '5\r\nhello\r\n', '']],
    // Missing, unexpected and invalid trailers.
    ['MalformedTrailerError', ['', `${trailer}${trailer}`].map((lines) => `${whole}${lines}\r\n`)],
    ['MalformedTrailerError', ['x-amz-acl:public-read', 'hello'].map((line) => `${whole}${trailer}${line}\r\n\r\n`)],
    ['MalformedTrailerError', [`${whole}${trailer}x-amz-trailer-signature:00\r\n\r\n`]],
    [
      'MalformedTrailerError',
      ['x-amz-meta-a:b\r\n', 'PUT / HTTP/1.1\r\n\r\n'].map((more) => `${whole}${trailer}\r\n${more}`),
    ],
    ['InvalidRequest', [`${whole}${'\r\n'.repeat(100_000)}`, `${whole}x-amz-checksum-crc32:AAAA\r\n\r\n`]],
    ['BadDigest', [`${whole}x-amz-checksum-crc32:AAAAAA==\r\n\r\n`]],
  ])('T-93 the outcome of the framing is %s', async (code, bodies) => {
    for (const body of bodies) {
      for (const length of [1, 7, 65_536]) {
        if (body.length > 10_000 && length === 1) continue
        expect(await codeOf(open(unsigned(5), Buffer.from(body), [length])), body.slice(0, 100)).toBe(code)
      }
    }
  })

  it('T-93 signed chunks need signatures, in their own order', async () => {
    const headers = { 'x-amz-content-sha256': SIGNED, 'x-amz-decoded-content-length': '10' }
    expect(await codeOf(open(headers, Buffer.from('5\r\nhello\r\n5\r\nhello\r\n0\r\n\r\n')))).toBe('InvalidRequest')
    const [one, two] = [Buffer.from('first'), Buffer.from('other')]
    const swapped = async (seed: string) => {
      const text = (await encodeBody({ chunks: [one, two], seed })).toString()
      const [a = '', b = '', end = ''] = text.split(/(?<=first\r\n|other\r\n)/)
      return Buffer.from(b + a + end)
    }
    expect(await codeOf(open(headers, swapped))).toBe('SignatureDoesNotMatch')
    const replayed = async (seed: string) => {
      const text = (await encodeBody({ chunks: [one], seed })).toString()
      const end = text.indexOf('0;chunk-signature')
      return Buffer.from(text.slice(0, end) + text)
    }
    expect(await codeOf(open(headers, replayed))).toBe('SignatureDoesNotMatch')
  })

  it('T-93 a signed trailer needs its signature', async () => {
    const headers = {
      'x-amz-content-sha256': SIGNED_TRAILER,
      'x-amz-decoded-content-length': '5',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    }
    const chunks = [Buffer.from('hello')]
    const body = (change: (text: string) => string) => async (seed: string) => {
      const trailers = [`x-amz-checksum-crc32:${crc32Of(chunks[0]!)}`]
      return Buffer.from(change((await encodeBody({ chunks, trailers, seed })).toString()))
    }
    const without = body((text) => text.replace(/x-amz-trailer-signature:.*\r\n/, ''))
    const wrong = body((text) => text.replace(/(x-amz-trailer-signature:)../, (_, name) => `${name}00`))
    const minio = body((text) => text.replace('=\r\nx-amz-trailer', '=\n\r\nx-amz-trailer'))
    expect(await codeOf(open(headers, without))).toBe('MalformedTrailerError')
    expect(await codeOf(open(headers, wrong))).toBe('SignatureDoesNotMatch')
    expect(await codeOf(open(headers, minio))).toBe('accepted')
  })

  it('T-93 very many very short chunks are rejected long before the end', async () => {
    let read = 0
    async function* endless() {
      for (;;) {
        read++
        yield Buffer.from('1\r\na\r\n'.repeat(1000))
      }
    }
    const head = await sign({ method: 'PUT', headers: unsigned(1e12) })
    const payload = openPayload(head, check(head), endless())
    await expect(collect(payload)).rejects.toMatchObject({ code: 'InvalidChunkSizeError' })
    expect(read).toBe(2)
  })

  it('T-93 short chunks produce no more pieces than the body arrived in', async () => {
    const chunks = Array.from({ length: 1000 }, () => randomBytes(300))
    const whole = Buffer.concat(chunks)
    const headers = { ...unsigned(whole.length) }
    const body = await encodeBody({ chunks, trailers: [`x-amz-checksum-crc32:${crc32Of(whole)}`] })
    const pieces: Buffer[] = []
    for await (const piece of (await open(headers, body)).bytes) pieces.push(piece)
    expect(pieces.length).toBe(Math.ceil(body.length / 65_536))
    expect(Buffer.concat(pieces)).toEqual(whole)
  })

  it('T-93 a long chunk is not copied', async () => {
    const whole = randomBytes(100_000)
    const body = await encodeBody({ chunks: [whole], trailers: [`x-amz-checksum-crc32:${crc32Of(whole)}`] })
    for await (const piece of (await open(unsigned(whole.length), body)).bytes) expect(piece.buffer).toBe(body.buffer)
  })
})

describe('made-up bodies', async () => {
  const chunks = [Buffer.from('first chunk, '), Buffer.from('second')]
  const whole = Buffer.concat(chunks)
  const trailers = [`x-amz-checksum-crc32:${crc32Of(whole)}`]
  const length = { 'x-amz-decoded-content-length': String(whole.length) }
  const announced = { ...length, 'x-amz-trailer': 'x-amz-checksum-crc32' }
  const digest = (algorithm: string) => createHash(algorithm).update(whole)
  const headers: Record<string, string>[] = [
    { 'x-amz-content-sha256': SIGNED, ...length },
    { 'x-amz-content-sha256': SIGNED_TRAILER, ...announced },
    { 'x-amz-content-sha256': UNSIGNED_TRAILER, ...announced },
    { 'x-amz-content-sha256': digest('sha256').digest('hex'), 'content-md5': digest('md5').digest('base64') },
  ]
  const heads = await Promise.all(headers.map((one) => sign({ method: 'PUT', path: '/bucket/key', headers: one })))
  const forms = heads.map((head) => ({ head, signed: check(head) }))
  const [first, second] = forms.map(({ signed }) => signed.authorization.signature) as [string, string]
  const bodies = [
    await encodeBody({ chunks, seed: first }),
    await encodeBody({ chunks, trailers, seed: second }),
    await encodeBody({ chunks, trailers }),
    whole,
  ]

  /** The bytes, or the code of the error. */
  async function read(form: number, pieces: readonly Buffer[]): Promise<Buffer | string> {
    async function* arriving() {
      yield* pieces
    }
    const { head, signed } = forms[form]!
    try {
      return await collect(openPayload(head, signed, arriving()))
    } catch (error) {
      if (error instanceof S3Error) return error.code
      throw error
    }
  }

  it('T-129 T-52 no made-up input breaks the rules of aws-chunked bodies', async () => {
    const words = ['\r\n', '\n', '0\r\n', '13\r\n', ';', '0;chunk-signature=', 'x-amz-checksum-crc32:', 'ffffffffffff']
    expect(
      await problemWith({
        // The first byte chooses the form.
        examples: bodies.map((body, form) => Buffer.concat([Buffer.of(form), body])),
        words: [...words, 'x-amz-trailer-signature:', ...trailers],
        maxBytes: 32_768,
        async rule(input, cut) {
          const [form, body] = [(input[0] ?? 0) % forms.length, input.subarray(1)]
          const accepted = await read(form, [body])
          mustEqual(await read(form, cut(body)), accepted, 'a body reads differently in other pieces')
          // An unsigned body is protected by its checksum and its length.
          must(typeof accepted === 'string' || accepted.equals(whole), 'accepts bytes that were not signed')
        },
      }),
    ).toBeNull()
  })
})
