// The headers that describe an object: its type, its metadata and its copy source. A fuzz example is JSON: the headers.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, must, mustEqual } from '@svc/devnet/properties/rules'
import { readChecksums } from '@svc/s3/checksums'
import { S3Error } from '@svc/s3/errors'
import { expect, it } from 'vitest'
import { readSource } from '../../../../src/adapters/s3/objects/copy-source.ts'
import {
  readObjectHeaders,
  refuseUnsupported,
  storedHeaders,
} from '../../../../src/adapters/s3/objects/object-headers.ts'

type Request = Parameters<typeof readSource>[0]
type Caller = Parameters<typeof readSource>[1]

const LOCKER = 'locker_0123456789ab'
const SCOPE = { lockerId: LOCKER, prefix: 'a/', access: 'write' }
const CALLER = { presented: SCOPE, credential: SCOPE } as unknown as Caller // the only fields that are read

it('T-129 no made-up input breaks the rules of headers of objects', async () => {
  expect(
    await problemWith({
      examples: [
        JSON.stringify({
          'content-type': 'text/plain; charset=utf-8',
          'content-disposition': 'attachment; filename="a.txt"',
          'content-encoding': 'aws-chunked, gzip',
          'x-amz-meta-mtime': '1700000000.123',
          'x-amz-meta-name': 'é',
          'x-amz-acl': 'private',
        }),
        JSON.stringify({
          'x-amz-copy-source': `/${LOCKER}/a/b%20c.txt?versionId=null`,
          'x-amz-checksum-crc32': 'AAAAAA==',
        }),
      ],
      words: [
        ...'x-amz-meta- x-amz-tagging x-amz-grant-read x-amz-checksum-sha256 x-amz-checksum-mode expires \r\n \t \u00ff \u0100 % %2F %ff .. / ? __proto__ aws-chunked ,'.split(
          ' ',
        ),
        LOCKER,
      ],
      isJson: true,
      rule(input) {
        const given = json(input)
        if (typeof given !== 'object' || given === null || Array.isArray(given)) return
        const headers = Object.fromEntries(
          Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
        )
        // Only metadata may come from a query; Node has checked the other headers.
        if (!Object.entries(headers).every(([name, value]) => name.startsWith('x-amz-') || isHeader(name, value)))
          return
        accepted(S3Error, () => refuseUnsupported(headers))
        accepted(S3Error, () => readChecksums(headers))
        checkStored(headers)
        checkSource(headers)
      },
    }),
  ).toBeNull()
})

function checkStored(headers: Record<string, string>): void {
  const read = accepted(S3Error, () => readObjectHeaders(headers))
  if (!read) return
  const stored = storedHeaders(read)
  for (const [name, value] of Object.entries(stored))
    must(isHeader(name, value), 'stores a header that no response can carry')
  mustEqual(
    storedHeaders(readObjectHeaders({ ...stored, 'content-type': read.contentType })),
    stored,
    'stores something else the second time',
  )
}

function checkSource(headers: Record<string, string>): void {
  const request = { signed: { headers } } as unknown as Request // the only field that is read
  const source = accepted(S3Error, () => readSource(request, CALLER))
  must(source === null || source.key.startsWith('a/'), 'copies from outside the prefix')
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
