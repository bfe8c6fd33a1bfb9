// Headers of tus requests. A fuzz example is JSON: the headers.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, must } from '@svc/devnet/properties/rules'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { expect, it } from 'vitest'
import { readChecksum } from '../../../src/adapters/tus/checksums.ts'
import { partialIds } from '../../../src/adapters/tus/concat.ts'
import { isChunk, numberOf, requireChunk, requireVersion } from '../../../src/adapters/tus/headers.ts'
import { readMetadata } from '../../../src/adapters/tus/metadata.ts'

const base64 = (value: string) => Buffer.from(value).toString('base64')
const UPLOAD = `/v1/tus/${'A'.repeat(43)}`

it('T-129 no made-up input breaks the rules of tus headers', async () => {
  expect(
    await problemWith({
      examples: [
        JSON.stringify({
          'tus-resumable': '1.0.0',
          'upload-length': '10',
          'upload-metadata': `filename ${base64('é.txt')},filetype ${base64('text/plain')},empty,x `,
          'upload-checksum': `sha1 ${base64('x'.repeat(20))}`,
          'content-type': 'application/offset+octet-stream',
        }),
        JSON.stringify({
          'upload-concat': `final;${UPLOAD} https://gateway.example/v1/tus/${'B'.repeat(43)}`,
          'upload-metadata': `relativePath ${base64('/a/b')},expected_hash ${base64('null')}`,
          'upload-checksum': `crc32 ${base64('abcd')}`,
          'upload-offset': '9007199254740991',
        }),
      ],
      words: [
        ...', = == final; partial \u00e9 1.0.0'.split(' '),
        'filename ',
        'name ',
        ' ',
        '  ',
        'sha256 ',
        'md5 ',
        'constructor ',
        UPLOAD,
        '__proto__ AA==',
      ],
      isJson: true,
      rule(input) {
        const given = json(input)
        if (typeof given !== 'object' || given === null) return
        const wire = { headers: given } as WireRequest
        const textOf = (name: string) => {
          const value = (given as Record<string, unknown>)[name]
          return typeof value === 'string' ? value : null
        }
        const metadata = refusing(() => readMetadata(textOf('upload-metadata')))
        if (metadata) {
          const values = Object.values(metadata)
          must(
            values.every((value) => typeof value === 'string' && value !== '' && value.isWellFormed()),
            'the metadata is not text',
          )
          must(!metadata.filename?.startsWith('/'), 'the name starts at the root')
        }
        const checksum = refusing(() => readChecksum(textOf('upload-checksum')))
        if (checksum) {
          checksum.update(new Uint8Array(3))
          must(typeof checksum.digest() === 'string', 'the algorithm has no digest')
        }
        for (const name of ['Upload-Length', 'Upload-Offset']) {
          const number = refusing(() => numberOf(wire, name))
          if (number !== null)
            must(String(number) === textOf(name.toLowerCase()), 'the number differs from the one sent')
        }
        const ids = refusing(() => partialIds(textOf('upload-concat') ?? ''))
        must(
          ids === null || ids.every((id) => textOf('upload-concat')!.includes(`/v1/tus/${id}`)),
          'the upload differs',
        )
        refusing(() => requireVersion(wire))
        const isBytes = refusing(() => {
          requireChunk(wire)
          return true
        })
        if (isBytes) must(isChunk(wire), 'a body of another type is accepted')
      },
    }),
  ).toBeNull()
})

/** Null when the headers are refused, which must be with a 4xx status. */
function refusing<T>(read: () => T): T | null {
  return accepted(ServiceError, () => {
    try {
      return read()
    } catch (error) {
      if (error instanceof ServiceError) must(error.status < 500, `a bad header is answered with ${error.status}`)
      throw error
    }
  })
}
