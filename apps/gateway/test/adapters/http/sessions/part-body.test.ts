// The body of a part in JSON, as it arrives in pieces.

import { Readable } from 'node:stream'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, must, mustEqual } from '@svc/devnet/properties/rules'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { expect, it } from 'vitest'
import { readPartBody } from '../../../../src/adapters/http/sessions/part-body.ts'

const MAX_BYTES = 4096

it('T-129 no made-up input breaks the rules of bodies of parts', async () => {
  const data = Buffer.from('some bytes of a part, and more of them').toString('base64')
  expect(
    await problemWith({
      examples: [
        JSON.stringify({ index: 0, data }),
        `{"index":3,"data":"${Buffer.from([255, 254, 253, 252]).toString('base64').replaceAll('/', '\\/')}"}`,
        JSON.stringify({ extra: { data: ['x'] }, sha256: 'ab'.repeat(32), data: '', index: 99999 }),
        '{"d\\u0061ta":"AAAA","index":1}',
      ],
      words: '"data": "data" \\/ \\ " = == \\u0061 { } [ ] : , AAAA -_'.split(' '),
      isJson: true,
      maxBytes: 32_768,
      async rule(input, cut) {
        const [whole, inPieces] = [await read([Buffer.from(input)]), await read(cut(input))]
        mustEqual(inPieces, whole, 'a body differs when it arrives in other pieces')
        if (typeof whole === 'string') return
        const document = json(input) as { index: unknown; data: string } | undefined
        must(document?.index === whole.index, 'the index differs from JSON.parse')
        must(document?.data === whole.bytes.toString('base64'), 'the bytes differ from JSON.parse')
      },
    }),
  ).toBeNull()
})

type Read = { index: number; bytes: Buffer } | string

/** The parsed body, or the code of the error. */
async function read(pieces: readonly Buffer[]): Promise<Read> {
  const stream = Object.assign(Readable.from(pieces, { objectMode: false }), { headers: {} })
  const wire = { headers: {}, stream } as unknown as WireRequest // the only fields that are read
  const body = readPartBody(wire, {}, MAX_BYTES)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of body.bytes as AsyncIterable<Buffer>) chunks.push(chunk)
    return { index: body.declared().index, bytes: Buffer.concat(chunks) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    must(error.status < 500, `a bad body is answered with ${error.status}`)
    return error.code
  } finally {
    body.release()
  }
}
