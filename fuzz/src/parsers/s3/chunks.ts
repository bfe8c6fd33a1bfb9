// Bodies in the framing aws-chunked, in each of its forms. The first byte of an example chooses the form; the rest is the
// body, which arrives in pieces.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { readAuthorization } from '@svc/s3/authorization'
import { S3Error } from '@svc/s3/errors'
import { openPayload } from '@svc/s3/payload'
import { checkSignature } from '@svc/s3/signature'
import { must, mustEqual, type Parser } from '../engine/parser.ts'
import { splitAtRandom } from '../engine/random.ts'
import { NOW, SECRET, signChunks, signHead } from './signing.ts'

const CHUNKS = [Buffer.from('first chunk, '), Buffer.from('second')]
const WHOLE = Buffer.concat(CHUNKS)
const TRAILER = `x-amz-checksum-crc32:${crc32Of(WHOLE)}`
const LENGTH = { 'x-amz-decoded-content-length': String(WHOLE.length) }
const ANNOUNCED = { ...LENGTH, 'x-amz-trailer': 'x-amz-checksum-crc32' }

const FORMS = [
  { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', ...LENGTH },
  { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', ...ANNOUNCED },
  { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', ...ANNOUNCED },
  { 'x-amz-content-sha256': createHash('sha256').update(WHOLE).digest('hex'), 'content-md5': md5Of(WHOLE) },
].map((headers) => {
  const head = signHead({ method: 'PUT', path: '/bucket/key', query: [], headers })
  return { head, signed: checkSignature(head, readAuthorization(head), SECRET, NOW) }
})

export function open(): Parser {
  const seedOf = (form: number) => FORMS[form]!.signed.authorization.signature
  const bodies = [
    signChunks(CHUNKS, [], seedOf(0)),
    signChunks(CHUNKS, [TRAILER], seedOf(1)),
    Buffer.from(`d\r\n${CHUNKS[0]}\r\n6\r\n${CHUNKS[1]}\r\n0\r\n${TRAILER}\r\n\r\n`),
    WHOLE,
  ]
  return {
    seeds: bodies.map((body, form) => Buffer.concat([Buffer.of(form), body])),
    words: [
      '\r\n',
      '\n',
      '0\r\n',
      '0;chunk-signature=',
      ';',
      'x-amz-checksum-crc32:',
      'x-amz-trailer-signature:',
      'ffffffffffff',
      '13\r\n',
      TRAILER,
    ],
    maxBytes: 32_768,
    async check(input, random) {
      const form = (input[0] ?? 0) % FORMS.length
      const body = Buffer.from(input.subarray(1))
      const [whole, inPieces] = [await read(form, [body]), await read(form, splitAtRandom(body, random))]
      mustEqual(inPieces, whole, 'a body is another one when it arrives in other pieces')
      if (typeof whole === 'string') return
      // An unsigned body is protected by its checksum and its length.
      must(whole.equals(WHOLE), 'takes bytes that were not signed')
    },
  }
}

/** The bytes, or the code of the refusal. */
async function read(form: number, pieces: readonly Buffer[]): Promise<Buffer | string> {
  const { head, signed } = FORMS[form]!
  try {
    const chunks: Buffer[] = []
    for await (const chunk of openPayload(head, signed, arriving(pieces)).bytes) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

async function* arriving(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

function crc32Of(bytes: Buffer): string {
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32(bytes))
  return crc.toString('base64')
}

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('base64')
}
